/** `GET /system/checks`: what the doctor finds at this process. */

import { GatewayError } from "@sluice/contract";
import type { Snapshot } from "../../../config/snapshot.ts";
import { type Examined, examineRunning } from "../../../doctor/examine.ts";
import { type AdminRoutes, atWhole } from "../../access/route.ts";

/** An answer is given again for so long: a check opens connections. */
const KEPT_MS = 5_000;

/** The parts of the route. */
export interface CheckParts {
  readonly definitions: Examined["definitions"];
  /** Variables of the start: the master key may be one. */
  readonly environment: Examined["environment"];
  readonly clock: { now(): number };
  /** The configuration that serves; `undefined` before the first one. */
  readonly live: () => { readonly snapshot: Snapshot } | undefined;
}

type Findings = ReturnType<typeof examineRunning>;

/** The route. Callers at the same time share one examination. */
export function checkRoute(parts: CheckParts): AdminRoutes {
  const { definitions, environment, clock, live } = parts;
  const kept = new Map<boolean, { readonly atMs: number; readonly findings: Findings }>();
  const examine = (isOnline: boolean): { readonly atMs: number; readonly findings: Findings } => {
    const nowMs = clock.now();
    const before = kept.get(isOnline);
    if (before !== undefined && Math.abs(nowMs - before.atMs) < KEPT_MS) return before;
    const generation = live();
    if (generation === undefined)
      throw new GatewayError("overloaded", "No configuration serves yet.", { retryAfterMs: 1_000 });
    const { snapshot } = generation;
    const findings = examineRunning({ snapshot, definitions, environment, isOnline });
    const made = { atMs: nowMs, findings };
    kept.set(isOnline, made);
    findings.catch(() => kept.delete(isOnline));
    return made;
  };
  return {
    "GET /system/checks": atWhole("status.read", async ({ query }) => {
      const { atMs, findings } = examine(query.get("online") === "true");
      const checks = await findings;
      return {
        at: new Date(atMs).toISOString(),
        checks: checks.map(({ name, grade, found, fix }) => ({
          name,
          grade,
          found,
          fix: fix ?? null,
        })),
      };
    }),
  };
}
