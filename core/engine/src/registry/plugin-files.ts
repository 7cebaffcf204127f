/**
 * Plugins' files that have changed since they were loaded: code that runs cannot change, so they
 * wait for a restart.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Log } from "@sluice/contract";
import type { LoadedPlugin } from "./definitions.ts";
import { filesOf, notedImports, stampOf } from "./resolve-hook.ts";

/** A watch over the files of plugins. */
export interface PluginFiles {
  /**
   * Files whose contents were not those that were loaded at the last check, by their absolute
   * paths.
   */
  readonly waiting: readonly string[];
  /** Checks all files now. A timer checks each of them every four seconds. */
  look(): void;
  close(): void;
}

/**
 * Between two checks of a part of the files. The shipped plugins have some hundred modules: all of
 * them at once hold the event loop for milliseconds.
 */
const LOOK_MS = 250;
const PARTS = 16;

interface Watched {
  /** Digest of the loaded contents; `undefined` when the file changed before the first check. */
  readonly digest: string | undefined;
  /** The size and time of the file at the last check. */
  seen: string;
  isChanged: boolean;
}

/**
 * Checks the modules of plugins while the process runs: those that `plugins` names, and their
 * imports by a path. A change is logged once, with `advice`. A file that has its loaded contents
 * again is not waiting any more.
 */
export function watchPluginFiles(
  plugins: readonly Pick<LoadedPlugin, "url">[],
  log: Log,
  advice: string,
): PluginFiles {
  const urls = plugins.flatMap(({ url }) => (url === undefined ? [] : [url]));
  const files = new Map<string, Watched>();
  let noted = -1;
  /** A plugin may import modules later: when it is created, or in a request. */
  const find = (): void => {
    if (noted === notedImports()) return;
    noted = notedImports();
    for (const url of urls)
      for (const [path, loaded] of filesOf(url))
        if (!files.has(path)) files.set(path, watched(path, loaded));
  };
  const check = (path: string, file: Watched): void => {
    const stamp = stampOf(path);
    if (stamp === file.seen) return;
    file.seen = stamp;
    const wasChanged = file.isChanged;
    file.isChanged = digestOf(path) !== file.digest;
    if (file.isChanged && !wasChanged) log.warn(`a plugin's file has changed: ${advice}`, { path });
  };
  const look = (): void => {
    find();
    for (const [path, file] of files) check(path, file);
  };
  let rest = files.entries();
  const lookOn = (): void => {
    for (let left = Math.ceil(files.size / PARTS); left > 0; left -= 1) {
      const next = rest.next();
      if (next.done === true) {
        find();
        rest = files.entries();
        return;
      }
      check(...next.value);
    }
  };
  look();
  const timer = setInterval(lookOn, LOOK_MS);
  timer.unref();
  return {
    look,
    get waiting() {
      return [...files].filter(([, { isChanged }]) => isChanged).map(([path]) => path);
    },
    close: () => clearInterval(timer),
  };
}

function watched(path: string, loaded: string): Watched {
  const isAsLoaded = stampOf(path) === loaded;
  return {
    digest: isAsLoaded ? digestOf(path) : undefined,
    seen: isAsLoaded ? loaded : "",
    isChanged: false,
  };
}

function digestOf(path: string): string {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return "absent";
  }
}
