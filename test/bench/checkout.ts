/**
 * The checkout of another commit, with what it depends on installed, kept outside of the
 * repository.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { PRESENT, type Checkout } from "./targets/gateway/present.ts";

const CACHE = join(
  process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"),
  "sluice-bench",
  "commits",
);

/**
 * A commit that cannot be checked out, or not installed. The message names the command that failed.
 */
export class CheckoutError extends Error {}

/**
 * Checks out `commit` (any name that `git rev-parse` resolves) and installs its dependencies. A
 * checkout of an earlier run is used again. Throws a CheckoutError.
 */
export function checkOut(commit: string): Checkout {
  const id = run(
    PRESENT.root,
    "git",
    "rev-parse",
    "--verify",
    "--end-of-options",
    `${commit}^{commit}`,
  );
  const root = join(CACHE, id);
  if (!existsSync(root)) {
    console.log(`checking out ${id} into ${root}`);
    mkdirSync(CACHE, { recursive: true });
    // A checkout that was cut short must not look like a whole one: it gets its name last.
    const unfinished = `${root}.${process.pid}`;
    try {
      run(CACHE, "git", "clone", "--quiet", "--no-checkout", PRESENT.root, unfinished);
      run(unfinished, "git", "checkout", "--quiet", "--detach", id);
      run(unfinished, "npm", "ci", "--no-audit", "--no-fund", "--prefer-offline");
      renameSync(unfinished, root);
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  return { root, suffix: `@${id.slice(0, 7)}` };
}

function run(cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0)
    throw new CheckoutError(
      `${[command, ...args].join(" ")} failed: ${error?.message ?? stderr.trim()}`,
    );
  return stdout.trim();
}
