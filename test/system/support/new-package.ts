/**
 * What tests of `sluice new` work with: shells, and a copy of the checkout that may be written
 * into.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { environmentOf, type ProcessEnvironment } from "./gateway-process.ts";

const REPOSITORY = join(import.meta.dirname, "../../..");
/** Folders that a copy has no use for. */
const LEFT_OUT = new Set(["node_modules", ".git", "dist", "data", "coverage"]);

/** What a command of a shell came to. */
export interface ShellOutcome {
  readonly code: number | null;
  /** Both streams, in the order of their pieces. */
  readonly output: string;
}

/** An empty folder, by its real path. */
export function temporaryFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "sluice-new-")));
}

/**
 * Runs a line of shell as a person would, without a network for npm. The runner's own variables
 * stay behind.
 */
export async function shell(
  line: string,
  cwd: string,
  environment: ProcessEnvironment = {},
): Promise<ShellOutcome> {
  const own = Object.keys(process.env).filter((name) =>
    /^(?:VITEST|NODE_ENV$|TEST$|npm_)/.test(name),
  );
  const env = environmentOf({
    ...Object.fromEntries(own.map((name) => [name, undefined])),
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
    npm_config_offline: "true",
    NO_COLOR: "1",
    ...environment,
  });
  const child = spawn("sh", ["-ec", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}

/** The commands that `sluice new` prints, as they stand there. */
export function printedCommands(output: string): readonly string[] {
  return [...output.matchAll(/^ {2}(\S.*?) +# /gm)].map(([, command = ""]) => command);
}

/** A copy of this checkout with packages of its own; what npm installed besides is shared. */
export function copyCheckout(): string {
  const folder = temporaryFolder();
  cpSync(REPOSITORY, folder, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !LEFT_OUT.has(basename(path)) && !path.endsWith(".tsbuildinfo"),
  });
  const from = join(REPOSITORY, "node_modules");
  const to = join(folder, "node_modules");
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name === "@sluice")
      cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else if (!name.startsWith(".") || name === ".bin")
      symlinkSync(join(from, name), join(to, name));
  }
  return folder;
}
