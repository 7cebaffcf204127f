/** Request ids: UUIDv7, so that rows sort by time. */

import { randomFillSync } from "node:crypto";

const POOL_BYTES = 4096;
/** Of an id, as digits of the pool. */
const RANDOM_DIGITS = 20;
const VARIANTS = "89ab";
const pool = Buffer.alloc(POOL_BYTES);
let digits = "";
let used = 0;
/** The time of the last id: at most one text for each millisecond. */
let writtenMs = -1;
let written = "";

/** A new UUIDv7 (RFC 9562 5.7) of a time in milliseconds since 1970. */
export function requestId(nowMs: number): string {
  if (used + RANDOM_DIGITS > digits.length) {
    digits = randomFillSync(pool).toString("hex");
    used = 0;
  }
  const at = used;
  used += RANDOM_DIGITS;
  if (nowMs !== writtenMs) {
    const time = nowMs.toString(16).padStart(12, "0");
    written = `${time.slice(0, 8)}-${time.slice(8)}-7`;
    writtenMs = nowMs;
  }
  // Two bits of the first digit choose the variant; the second one is not used again.
  const variant = VARIANTS[Number.parseInt(digits[at]!, 16) & 3]!;
  return `${written}${digits.slice(at + 2, at + 5)}-${variant}${digits.slice(at + 5, at + 8)}-${digits.slice(at + 8, at + 20)}`;
}
