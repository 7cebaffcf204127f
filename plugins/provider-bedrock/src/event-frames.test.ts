import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { UpstreamEvent } from "@sluice/contract";
import { eventFrame } from "@sluice/testing";
import { createFrameReader, eventFraming } from "./event-frames.ts";

const EVENT = { ":message-type": "event", ":content-type": "application/json" };
const hello = eventFrame({ ":event-type": "messageStart", ...EVENT }, '{"role":"assistant"}');
const umlaut = eventFrame(
  { ":event-type": "contentBlockDelta", ...EVENT },
  '{"delta":{"text":"Grüße 😀"}}',
);
const empty = eventFrame({ ":event-type": "ping", ...EVENT }, "");
const failure = eventFrame(
  { ":message-type": "exception", ":exception-type": "throttlingException" },
  '{"message":"Too many."}',
);
const whole = Buffer.concat([hello, umlaut, empty, failure]);

function read(...chunks: readonly Uint8Array[]): UpstreamEvent[] {
  const events: UpstreamEvent[] = [];
  const reader = createFrameReader((event) => events.push(event));
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return events;
}

const expected: UpstreamEvent[] = [
  { event: "messageStart", data: '{"role":"assistant"}' },
  { event: "contentBlockDelta", data: '{"delta":{"text":"Grüße 😀"}}' },
  { event: "ping", data: "" },
  { event: "exception:throttlingException", data: '{"message":"Too many."}' },
];

describe("a binary event stream", () => {
  it("gives the same events, wherever it is cut", () => {
    expect(read(whole)).toEqual(expected);
    for (let cut = 1; cut < whole.length; cut++)
      expect(read(whole.subarray(0, cut), whole.subarray(cut))).toEqual(expected);
    expect(read(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it("is recognised by its first bytes", () => {
    for (let cut = 0; cut < 12; cut++)
      expect(eventFraming.begins(whole.subarray(0, cut))).toBe(cut === 0 ? false : undefined);
    for (const cut of [12, 13, whole.length])
      expect(eventFraming.begins(whole.subarray(0, cut))).toBe(true);
    for (const other of ["{", '{"type":"message_start"}', "data: {}\n\n", "\0".repeat(12)]) {
      expect(eventFraming.begins(Buffer.from(other))).toBe(false);
    }
  });

  it("tells errors that no service models, and skips headers that are no text", () => {
    const error = eventFrame(
      { ":message-type": "error", ":error-code": "InternalFailure", ":error-message": "Oh." },
      "",
    );
    expect(read(error)).toEqual([
      { event: "exception:InternalFailure", data: '{"message":"Oh."}' },
    ]);
    // One header of every type that is no text: true, byte, short, integer, long, bytes, timestamp,
    // UUID.
    const values = [
      [0],
      [2, 1],
      [3, 0, 1],
      [4, 0, 0, 0, 1],
      [5, ...zeros(8)],
      [6, 0, 2, 1, 1],
      [8, ...zeros(8)],
      [9, ...zeros(16)],
    ];
    const odd = Buffer.concat(values.map((value) => Buffer.from([1, 0x61, ...value])));
    const type = Buffer.concat([
      Buffer.from([11]),
      Buffer.from(":event-type"),
      Buffer.from([7, 0, 1]),
      Buffer.from("x"),
    ]);
    expect(read(framed(Buffer.concat([odd, type])))).toEqual([{ event: "x", data: "" }]);
  });

  it("refuses any byte that is not what was sent", () => {
    for (let at = 0; at < umlaut.length; at++) {
      const damaged = Buffer.from(umlaut);
      damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
      expect(() => read(damaged)).toThrow(
        expect.objectContaining({ code: "upstream_invalid_response" }),
      );
    }
  });

  it("refuses headers that leave their frame, and frames over the bound, before it keeps them", () => {
    for (const headers of [
      [9, 0x61],
      [1, 0x61],
      [1, 0x61, 7, 0],
      [1, 0x61, 7, 0, 9, 1],
      [1, 0x61, 77],
      [1, 0x61, 5, 0],
    ]) {
      expect(() => read(framed(Buffer.from(headers)))).toThrow("damaged");
    }
    expect(() => read(prelude(17 * 1024 * 1024, 0))).toThrow("larger than the gateway accepts");
    expect(() => read(prelude(1_000_000, 200_000))).toThrow("larger than the gateway accepts");
    expect(() => read(prelude(15, 0))).toThrow("damaged");
    expect(() => read(prelude(20, 8))).toThrow("damaged");
  });

  it("is truncated when bytes are left", () => {
    for (const end of [1, 11, 12, 13, hello.length - 1]) {
      expect(() => read(hello.subarray(0, end))).toThrow(
        expect.objectContaining({ code: "stream_truncated" }),
      );
    }
  });
});

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}

function prelude(total: number, headers: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(total, 0);
  bytes.writeUInt32BE(headers, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  return bytes;
}

/** A frame with these headers and no payload. */
function framed(headers: Buffer): Buffer {
  const bytes = Buffer.concat([
    prelude(16 + headers.length, headers.length),
    headers,
    Buffer.alloc(4),
  ]);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
  return bytes;
}
