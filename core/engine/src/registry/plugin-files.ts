/** Plugins' files that have changed since they were loaded: code that runs cannot change, so they wait for a restart. */

import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Log } from "@sluice/spec";
import type { LoadedPlugin } from "./definitions.ts";

/** A watch over the files of plugins. */
export interface PluginFiles {
  /** Files whose contents are not those that were loaded, by their absolute paths. */
  readonly waiting: readonly string[];
  close(): void;
}

const LOOK_MS = 1_000;

interface Watched {
  readonly path: string;
  readonly digest: string;
  /** The size and time of the contents that were last looked into. */
  seen: string;
  isChanged: boolean;
}

/** Looks once a second at the modules that were loaded. A change is logged once; what is changed back is forgotten. */
export function watchPluginFiles(plugins: readonly Pick<LoadedPlugin, "url">[], log: Log): PluginFiles {
  const files = plugins.flatMap(({ url }): Watched[] => {
    if (url === undefined) return [];
    const path = fileURLToPath(url);
    return [{ path, digest: digestOf(path), seen: stampOf(path), isChanged: false }];
  });
  const look = (): void => {
    for (const file of files) {
      const stamp = stampOf(file.path);
      if (stamp === file.seen) continue;
      file.seen = stamp;
      const wasChanged = file.isChanged;
      file.isChanged = digestOf(file.path) !== file.digest;
      if (file.isChanged && !wasChanged) log.warn("a plugin's file has changed: sluice restart loads it", { path: file.path });
    }
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return {
    get waiting() {
      look();
      return files.filter(({ isChanged }) => isChanged).map(({ path }) => path);
    },
    close: () => clearInterval(timer),
  };
}

function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "absent" : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}

function digestOf(path: string): string {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return "absent";
  }
}
