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
  /** Checks now. A timer does so every second. */
  look(): void;
  close(): void;
}

const LOOK_MS = 1_000;

interface Watched {
  /** Digest of the loaded contents; `undefined` when the file changed before the first check. */
  readonly digest: string | undefined;
  /** The size and time of the file at the last check. */
  seen: string;
  isChanged: boolean;
}

/**
 * Checks the modules of plugins once a second: those that `plugins` names, and their imports by a
 * path. A change is logged once, with `advice`. A file that has its loaded contents again is not
 * waiting any more.
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
  const look = (): void => {
    find();
    for (const [path, file] of files) {
      const stamp = stampOf(path);
      if (stamp === file.seen) continue;
      file.seen = stamp;
      const wasChanged = file.isChanged;
      file.isChanged = digestOf(path) !== file.digest;
      if (file.isChanged && !wasChanged)
        log.warn(`a plugin's file has changed: ${advice}`, { path });
    }
  };
  look();
  const timer = setInterval(look, LOOK_MS);
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
