/** Checks that the data folder's disk has space for the rows of running requests. */

import { statfs } from "node:fs/promises";

/** Requests are refused below this, or below a twentieth of a smaller file system. */
const MIN_FREE_BYTES = 16 * 2 ** 20;
const MIN_FREE_SHARE = 1 / 20;

/**
 * A sentence for a full disk; `undefined` with enough space, and when the system does not report
 * it.
 */
export async function fullDisk(directory: string): Promise<string | undefined> {
  const found = await statfs(directory).catch(() => undefined);
  if (found === undefined || found.blocks === 0) return undefined;
  const freeBytes = found.bavail * found.bsize;
  const leastBytes = Math.min(MIN_FREE_BYTES, found.blocks * found.bsize * MIN_FREE_SHARE);
  if (freeBytes >= leastBytes) return undefined;
  const inMb = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;
  return `The disk of the data folder ${directory} is full: ${inMb(freeBytes)} are free, ${inMb(leastBytes)} are needed. Free space there.`;
}
