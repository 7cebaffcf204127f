/** Small files of the data folder that are made once. */

import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const OWNER_ONLY = 0o600;

/**
 * Reads a file, or makes it, readable by its owner alone. It appears whole or not at all, and two
 * processes that start at once agree on one value.
 */
export function keepFile(path: string, make: () => string): { value: string; isNew: boolean } {
  const draft = `${path}.${process.pid}`;
  let isNew = true;
  writeFileSync(draft, `${make()}\n`, { mode: OWNER_ONLY });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    isNew = false;
  } finally {
    rmSync(draft, { force: true });
  }
  return { value: readFileSync(path, "utf8").trim(), isNew };
}
