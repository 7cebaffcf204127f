/** Reads a request body with a bound and a deadline. */

import type { IncomingMessage } from "node:http";
import { Gathered } from "@sluice/kit/transport";
import { GatewayError } from "@sluice/spec";
import { type Coding, decoded } from "./decoded.ts";

/** What a body may be. */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly deadlineMs: number;
  /** The coding that is taken off; the bounds hold for what comes of it. Absent: the bytes are read as they are. */
  readonly coding?: Coding | undefined;
  /** Counts bytes before they are read: all that are announced, or more as they come. Throws where there is no room for them. */
  readonly hold?: (bytes: number) => void;
}

/** Of a body without a length so much is counted at a time. */
const STEP_BYTES = 65_536;

/** Chunks from which on their size matters, and what they must have on average: each costs some microseconds, however small it is. */
const MANY_CHUNKS = 4_096;
const LEAST_CHUNK_BYTES = 16;

/** The rest of the body is not read, so the connection cannot be used again. */
const CLOSE = { headers: { connection: "close" } };

/**
 * The whole body. Throws `body_too_large` as soon as the limit is known to be passed, `body_timeout` after the deadline,
 * `client_closed` when the client goes away.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limits.maxBytes) return Promise.reject(tooLarge(limits.maxBytes));
  // A client that left while its key was looked up: its events have been, and no other would come.
  if (request.destroyed && !request.complete) return Promise.reject(gone());
  const { hold } = limits;
  const { coding } = limits;
  const hasLength = coding === undefined && request.headers["content-length"] !== undefined;
  let heldBytes = declared;
  if (hold !== undefined && declared > 0) {
    try {
      hold(declared);
    } catch (error) {
      return Promise.reject(error as GatewayError);
    }
  }
  return new Promise((resolve, reject) => {
    const gathered = new Gathered(hasLength ? declared : 0);
    const source = coding === undefined ? request : decoded(request, coding);
    const timer = setTimeout(() => {
      fail(new GatewayError("body_timeout", `The body did not arrive within ${limits.deadlineMs} ms.`, CLOSE));
    }, limits.deadlineMs);
    const fail = (error: GatewayError): void => {
      clearTimeout(timer);
      source.removeAllListeners("data");
      if (source !== request) {
        request.unpipe();
        request.removeAllListeners("data");
        source.destroy();
      }
      request.pause();
      reject(error);
    };
    let chunks = 0;
    let receivedBytes = 0;
    const count = (chunk: Buffer): void => {
      chunks += 1;
      receivedBytes += chunk.length;
      if (chunks > MANY_CHUNKS && receivedBytes < chunks * LEAST_CHUNK_BYTES) fail(chunksTooSmall());
    };
    // Counted as they come from the client, before any coding is taken off.
    if (source !== request) request.on("data", count);
    source.on("data", (chunk: Buffer) => {
      if (source === request) count(chunk);
      const size = gathered.length + chunk.length;
      if (size > limits.maxBytes) {
        fail(tooLarge(limits.maxBytes));
        return;
      }
      if (!hasLength && size > heldBytes) {
        const more = Math.max(STEP_BYTES, size - heldBytes);
        heldBytes += more;
        try {
          hold?.(more);
        } catch (error) {
          fail(error as GatewayError);
          return;
        }
      }
      gathered.push(chunk);
    });
    source.on("end", () => {
      clearTimeout(timer);
      resolve(asBuffer(gathered.take()));
    });
    const onGone = (): void => {
      if (!request.complete) fail(gone());
    };
    if (source !== request) {
      source.on("error", () => fail(new GatewayError("invalid_json", `The body is not valid ${coding ?? ""}.`, CLOSE)));
    }
    request.on("error", onGone);
    request.on("close", onGone);
  });
}

function asBuffer(bytes: Uint8Array | undefined): Buffer {
  if (bytes === undefined) return Buffer.alloc(0);
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function gone(): GatewayError {
  return new GatewayError("client_closed", "The client closed the connection.");
}

function chunksTooSmall(): GatewayError {
  const said = `The body comes in more than ${MANY_CHUNKS} chunks of less than ${LEAST_CHUNK_BYTES} bytes on average; send larger chunks.`;
  return new GatewayError("invalid_json", said, CLOSE);
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError("body_too_large", `The body is larger than ${maxBytes} bytes.`, CLOSE);
}
