/** What requests may hold in memory where the configuration says nothing. */

import { getHeapStatistics } from "node:v8";

/**
 * Bytes as they came, text, parsed value and what is sent on: a byte of a body costs some five
 * bytes.
 */
const SHARE_OF_HEAP = 1 / 8;

/** An eighth of the heap limit, and one largest body in any case. */
export function defaultHeldBytes(maxBodyBytes: number): number {
  return Math.max(maxBodyBytes, Math.floor(getHeapStatistics().heap_size_limit * SHARE_OF_HEAP));
}
