/**
 * Notices when files of the data folder are pulled away under a running gateway: what is written
 * then is lost with them.
 */

import { statSync } from "node:fs";
import { join } from "node:path";

/** Files that must stay the ones they are. */
export interface DataFolderWatch {
  /**
   * The first file that is missing or another one, in a sentence; `undefined` while all are in
   * their places.
   */
  fault(): string | undefined;
}

/**
 * Compares files of a folder with the ones that are there now, by device and inode, whenever it is
 * asked.
 */
export function watchDataFolder(directory: string, files: readonly string[]): DataFolderWatch {
  const originals = files.map((name) => {
    const path = join(directory, name);
    return { path, identity: identityOf(path) };
  });
  return {
    fault() {
      for (const { path, identity } of originals) {
        const found = identityOf(path);
        if (found === identity) continue;
        const what =
          found === undefined ? `${path} is missing` : `${path} is another file than at the start`;
        return `The data folder was removed or replaced: ${what}. Put the folder back, or restart the gateway.`;
      }
      return undefined;
    },
  };
}

function identityOf(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true });
    return found === undefined ? undefined : `${found.dev}:${found.ino}`;
  } catch (error) {
    // A folder that has become a file, or one that cannot be entered.
    return `unreadable: ${(error as NodeJS.ErrnoException).code}`;
  }
}
