/** Writes frames of binary event streams, for upstreams of tests. */

import { crc32 } from "node:zlib";

/** A frame of `application/vnd.amazon.eventstream` with headers that are texts. */
export function eventFrame(
  headers: Readonly<Record<string, string>>,
  payload: string | Uint8Array,
): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(payload);
  const frame = Buffer.alloc(16 + head.length + body.length);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(head.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  head.copy(frame, 12);
  body.copy(frame, 12 + head.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4);
  return frame;
}

function header(name: string, value: string): Buffer {
  const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)];
  const size = Buffer.alloc(2);
  size.writeUInt16BE(valueBytes.length);
  // 7: a text.
  return Buffer.concat([Buffer.of(nameBytes.length), nameBytes, Buffer.of(7), size, valueBytes]);
}
