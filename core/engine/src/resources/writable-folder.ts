/** Whether this user may write in a folder that may not be there yet. */

import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";

/** The folder, or the nearest one above it that exists. */
export function nearestFolder(folder: string): string {
  let place = folder;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  return place;
}

/**
 * Says which folder cannot be written to, and why; `undefined` when it can. Makes and writes
 * nothing.
 */
export function unwritable(folder: string): string | undefined {
  const place = nearestFolder(folder);
  try {
    accessSync(place, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${place} cannot be written to (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
  }
}
