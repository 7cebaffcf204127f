/** Bytes as a Buffer, whose methods read texts. */

/** The bytes themselves where they are a Buffer; else a view of them, which costs 0.5 µs. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
