/**
 * The mark in the data folder of a process that decides alone about limits: its shared state is
 * away. One that a kill leaves has its successor report it.
 */

import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "@sluice/contract";

const OWNER_ONLY = 0o600;

/** A mark, as shared state uses it. No method throws. */
export interface FileMark {
  /** Whether an earlier process has left it. */
  readonly wasLeft: boolean;
  set(): void;
  clear(): void;
}

/** The mark of a process, beside its outbox of this name. */
export function openAloneMark(directory: string, outbox: string, log: Log): FileMark {
  const path = join(directory, outbox.replace(/\.db$/, ".alone"));
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      log.warn("the mark of a gateway that decides alone was not changed", { file: path, error });
    }
  };
  const wasLeft = existsSync(path);
  let isSet = wasLeft;
  return {
    wasLeft,
    set() {
      if (isSet) return;
      isSet = true;
      attempt(() => writeFileSync(path, "", { mode: OWNER_ONLY }));
    },
    clear() {
      if (!isSet) return;
      isSet = false;
      attempt(() => rmSync(path, { force: true }));
    },
  };
}
