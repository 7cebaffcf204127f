/**
 * Watching: one call for every change of a configuration's files, however an editor or an
 * orchestrator writes them.
 */

import { statSync } from "node:fs";
import { dirname } from "node:path";

import { watch as watchPaths } from "chokidar";

/** Together with the pause between the two readings it makes 200 ms. */
const DEBOUNCE_MS = 100;
const POLL_MS = 2_000;

/** The watched files, and the callback for changes. */
export interface WatchOptions {
  /** Absolute paths of files and folders, there or not: `watched` of an opened configuration. */
  readonly paths: readonly string[];
  /** Called once a burst of changes is over. */
  onChange(): void;
  /** Called with a failure of the operating system's watch; polling goes on. */
  onError?(error: unknown): void;
  /** How long nothing may change before the call. Asked at every change. */
  debounceMs?(): number;
  readonly pollMs?: number;
}

/** A running watch. */
export interface ConfigWatch {
  /** Settles when the operating system's watch stands. Changes before that are seen by polling. */
  readonly ready: Promise<void>;
  /** Replaces the watched paths: a new configuration may name other files. */
  update(paths: readonly string[]): void;
  /** Ends the watch. A second call has no effect. */
  close(): Promise<void>;
}

/**
 * Watches the folders of the paths, not the files: a watch on a file reports nothing after
 * the first atomic save. An event only leads to a check; a change is a stamp that differs (inode,
 * size, times, the real file behind links).
 */
export function watchConfig(options: WatchOptions): ConfigWatch {
  let stamps = stampAll(options.paths);
  let paths = options.paths;
  let isClosed = false;
  let debounce: NodeJS.Timeout | undefined;

  const look = (): void => {
    const current = stampAll(paths);
    if (current === stamps || isClosed) return;
    stamps = current;
    clearTimeout(debounce);
    debounce = setTimeout(settle, options.debounceMs?.() ?? DEBOUNCE_MS);
  };
  // A file may still be growing when the time is up: the call waits for a quiet interval.
  const settle = (): void => {
    debounce = undefined;
    look();
    if (debounce === undefined && !isClosed) options.onChange();
  };

  let folders = foldersOf(paths);
  const watcher = watchPaths(folders, {
    depth: 0,
    ignoreInitial: true,
    persistent: true,
    ignorePermissionErrors: true,
  });
  watcher.on("all", look).on("raw", look);
  watcher.on("error", (error) => options.onError?.(error));
  const ready = new Promise<void>((settled) => {
    watcher.once("ready", () => settled());
  });
  const poll = setInterval(look, options.pollMs ?? POLL_MS);
  poll.unref();

  return {
    ready,
    update(next) {
      const nextFolders = foldersOf(next);
      const dropped = folders.filter((folder) => !nextFolders.includes(folder));
      const added = nextFolders.filter((folder) => !folders.includes(folder));
      if (dropped.length > 0) watcher.unwatch(dropped);
      if (added.length > 0) watcher.add(added);
      // Only what is watched from now on gets a new stamp here: a change that was not read yet must
      // not be lost.
      const hasPending = stampAll(paths) !== stamps;
      paths = next;
      folders = nextFolders;
      stamps = hasPending ? "" : stampAll(paths);
      look();
    },
    async close() {
      isClosed = true;
      clearInterval(poll);
      clearTimeout(debounce);
      await watcher.close();
    },
  };
}

function foldersOf(paths: readonly string[]): string[] {
  return [
    ...new Set(paths.flatMap((path) => (isFolder(path) ? [path, dirname(path)] : [dirname(path)]))),
  ];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** One text for the state of all paths; links are followed, so that a swapped ConfigMap shows. */
function stampAll(paths: readonly string[]): string {
  return paths.map((path) => `${path} ${stampOf(path)}`).join("\n");
}

function stampOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined
      ? "absent"
      : `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
  } catch (error) {
    return error instanceof Error ? error.message : "unreadable";
  }
}
