/**
 * Reads binary event streams, `application/vnd.amazon.eventstream`, split anywhere. A
 * frame is two lengths and their CRC, headers, a payload and the CRC of everything before
 * (docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html; @smithy/core 3.38,
 * `EventStreamCodec`). Big-endian.
 */

import { crc32 } from "node:zlib";
import {
  type EventReader,
  GatewayError,
  type StreamFraming,
  type UpstreamEvent,
} from "@sluice/contract";

/** Total length, length of the headers, CRC of both. */
const PRELUDE_BYTES = 12;
const CRC_BYTES = 4;
const PRELUDE_CRC_AT = PRELUDE_BYTES - CRC_BYTES;
/** The minimum length of a frame. */
const MIN_FRAME_BYTES = PRELUDE_BYTES + CRC_BYTES;
/** The maximum bytes of a frame, headers included. Images are sent as base64. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const MAX_HEADER_BYTES = 128 * 1024;
/**
 * Bytes of a header's value by its type: true, false, byte, short, integer, long, timestamp, UUID.
 * Types that are not listed have a length of their own before the value.
 */
const VALUE_BYTES: Readonly<Record<number, number>> = {
  0: 0,
  1: 0,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  8: 8,
  9: 16,
};
const BYTES = 6;
const STRING = 7;

/** The prefix of the name of an event that reports a failure; the exception's own name follows. */
export const EXCEPTION_PREFIX = "exception:";

/**
 * A reader that emits each frame when it is whole: the event is its `:event-type`, the data its
 * payload as text. Exceptions are events too, `exception:throttlingException`. `push` and `end`
 * throw `upstream_invalid_response` for a frame that is damaged or over the bound, and
 * `stream_truncated` for leftover bytes at the end.
 */
export function createFrameReader(onEvent: (event: UpstreamEvent) => void): EventReader {
  let frame = Buffer.alloc(PRELUDE_BYTES);
  let filled = 0;
  const take = (chunk: Buffer, from: number): number => {
    const wanted = Math.min(frame.length - filled, chunk.length - from);
    chunk.copy(frame, filled, from, from + wanted);
    filled += wanted;
    return from + wanted;
  };
  return {
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      for (let at = 0; at < bytes.length;) {
        at = take(bytes, at);
        if (filled < frame.length) return;
        if (frame.length === PRELUDE_BYTES) {
          const whole = Buffer.allocUnsafe(frameBytes(frame));
          frame.copy(whole);
          frame = whole;
          continue;
        }
        const whole = frame;
        frame = Buffer.alloc(PRELUDE_BYTES);
        filled = 0;
        onEvent(readFrame(whole));
      }
    },
    end() {
      if (filled > 0)
        throw new GatewayError("stream_truncated", "The upstream's stream ended within a frame.");
    },
  };
}

/** The framing of Bedrock's streams. */
export const eventFraming: StreamFraming = {
  contentType: "application/vnd.amazon.eventstream",
  begins(head) {
    const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
    if (bytes.length >= PRELUDE_BYTES) return isPrelude(bytes);
    // A frame begins with the high byte of its length.
    return bytes[0] === 0 ? undefined : false;
  },
  createReader: createFrameReader,
};

function isPrelude(bytes: Buffer): boolean {
  return crc32(bytes.subarray(0, PRELUDE_CRC_AT)) === bytes.readUInt32BE(PRELUDE_CRC_AT);
}

/** The length of a frame, from its prelude. */
function frameBytes(prelude: Buffer): number {
  if (!isPrelude(prelude)) throw damaged();
  const total = prelude.readUInt32BE(0);
  const headers = prelude.readUInt32BE(4);
  if (total > MAX_FRAME_BYTES || headers > MAX_HEADER_BYTES) {
    throw new GatewayError(
      "upstream_invalid_response",
      "An event of the upstream's stream is larger than the gateway accepts.",
    );
  }
  if (total < MIN_FRAME_BYTES + headers) throw damaged();
  return total;
}

function readFrame(frame: Buffer): UpstreamEvent {
  const end = frame.length - CRC_BYTES;
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) throw damaged();
  const payloadAt = PRELUDE_BYTES + frame.readUInt32BE(4);
  const headers = readHeaders(frame.subarray(PRELUDE_BYTES, payloadAt));
  const data = frame.toString("utf8", payloadAt, end);
  switch (headers.get(":message-type")) {
    case "exception":
      return { event: `${EXCEPTION_PREFIX}${headers.get(":exception-type") ?? ""}`, data };
    case "error": {
      const message = headers.get(":error-message");
      return {
        event: `${EXCEPTION_PREFIX}${headers.get(":error-code") ?? ""}`,
        data: JSON.stringify(message === undefined ? {} : { message }),
      };
    }
    default:
      return { event: headers.get(":event-type"), data };
  }
}

/** The headers with text values: they identify the event. */
function readHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  const skip = (count: number): number => {
    at += count;
    if (at > bytes.length) throw damaged();
    return at - count;
  };
  while (at < bytes.length) {
    const nameBytes = bytes.readUInt8(skip(1));
    const nameAt = skip(nameBytes);
    const type = bytes.readUInt8(skip(1));
    if (type !== BYTES && type !== STRING) {
      const size = VALUE_BYTES[type];
      if (size === undefined) throw damaged();
      skip(size);
      continue;
    }
    const sizeAt = skip(2);
    const size = bytes.readUInt16BE(sizeAt);
    const valueAt = skip(size);
    if (type === STRING)
      headers.set(
        bytes.toString("utf8", nameAt, nameAt + nameBytes),
        bytes.toString("utf8", valueAt, at),
      );
  }
  return headers;
}

function damaged(): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    "A frame of the upstream's stream is damaged.",
  );
}
