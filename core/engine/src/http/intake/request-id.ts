/** Request ids: UUIDv7, so that rows sort by time. */

import { randomFillSync } from "node:crypto";

const POOL_BYTES = 4096;
const RANDOM_BYTES = 10;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** A new UUIDv7 (RFC 9562 5.7) of a time in milliseconds since 1970. */
export function requestId(nowMs: number): string {
  if (used + RANDOM_BYTES > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.toString("hex", used, used + RANDOM_BYTES);
  const variant = (8 + ((pool[used] ?? 0) & 3)).toString(16);
  used += RANDOM_BYTES;
  const time = nowMs.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(2, 5)}-${variant}${random.slice(5, 8)}-${random.slice(8)}`;
}
