/** The two formats of a vector: numbers, and base64 of little-endian float32. */

import { endianness } from "node:os";

const BYTES_PER_FLOAT = 4;
const IS_BIG_ENDIAN = endianness() === "BE";

/** Base64 of a vector, each number rounded to the nearest float32. */
export function floatsToBase64(vector: readonly number[]): string {
  const floats = Float32Array.from(vector);
  const bytes = Buffer.from(floats.buffer);
  if (IS_BIG_ENDIAN) bytes.swap32();
  return bytes.toString("base64");
}

/**
 * The numbers of a base64 vector, the exact values of its float32. Returns `undefined` for text
 * that is not base64 of whole float32 numbers, and for numbers outside JSON (NaN, infinities).
 */
export function base64ToFloats(text: string): number[] | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length % BYTES_PER_FLOAT !== 0 || !isBase64(text, bytes.length)) return undefined;
  const vector: number[] = [];
  for (let at = 0; at < bytes.length; at += BYTES_PER_FLOAT) vector.push(bytes.readFloatLE(at));
  return vector.every(Number.isFinite) ? vector : undefined;
}

/** Node skips characters outside base64; the number of bytes shows whether it did. */
function isBase64(text: string, byteLength: number): boolean {
  const digits = text.endsWith("==")
    ? text.length - 2
    : text.endsWith("=")
      ? text.length - 1
      : text.length;
  return Math.floor((digits * 3) / 4) === byteLength;
}
