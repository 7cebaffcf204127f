/** `SLUICE_HOST`, `SLUICE_PORT` and `SLUICE_ADMIN_PORT`: variables that win over `server:`. */

import type { Finding } from "./finding.ts";
import type { Environment } from "./files/references.ts";
import type { Position } from "./snapshot.ts";

/** What the environment sets; `undefined` leaves the file's value. */
export interface ServerOverrides {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly adminPort: number | undefined;
}

/** Reads the overrides. `at` is where a finding points: the section that they replace. */
export function readOverrides(
  environment: Environment,
  at: Position,
): { overrides: ServerOverrides; findings: Finding[] } {
  const findings: Finding[] = [];
  const port = (name: string): number | undefined => {
    const text = environment[name];
    if (text === undefined || text === "") return undefined;
    const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
    if (value <= 65_535) return value;
    findings.push({
      at,
      message: `the variable ${name} is not a port`,
      fix: `set ${name} to a number from 0 to 65535, or unset it`,
    });
    return undefined;
  };
  const overrides: ServerOverrides = {
    host: environment["SLUICE_HOST"] === "" ? undefined : environment["SLUICE_HOST"],
    port: port("SLUICE_PORT"),
    adminPort: port("SLUICE_ADMIN_PORT"),
  };
  return { overrides, findings };
}
