/** Notices when the data folder is pulled away under a running gateway: what is written then is lost with the files. */

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "@sluice/spec";

/** A watch over a file that must stay the one it is. */
export interface DataFolderWatch {
  /** Whether the file is still the one that was there at the start. */
  readonly isIntact: boolean;
  close(): void;
}

const LOOK_MS = 1_000;

/** Looks once a second whether a file of the data folder is still in its place. A loss is logged once. */
export function watchDataFolder(directory: string, file: string, log: Log): DataFolderWatch {
  const path = join(directory, file);
  const original = inode(path);
  let isIntact = true;
  const timer = setInterval(() => {
    if (!isIntact || inode(path) === original) return;
    isIntact = false;
    log.error("the data folder was removed or replaced while the gateway runs: spend rows would be lost; restart the gateway", {
      path,
    });
  }, LOOK_MS);
  timer.unref();
  return {
    get isIntact() {
      return isIntact;
    },
    close: () => clearInterval(timer),
  };
}

function inode(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
