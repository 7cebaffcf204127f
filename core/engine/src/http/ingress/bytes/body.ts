/** Reads a request body with a bound and a deadline. */

import type { IncomingMessage } from "node:http";
import { Gathered, nextTurn } from "@sluice/kit/internals";
import { GatewayError } from "@sluice/contract";
import { deadlinesOf } from "./deadlines.ts";
import { type Coding, decoded } from "./decoded.ts";
import { MAX_TINY_CHUNKS, MIN_CHUNK_BYTES, watchChunks } from "./tiny-chunks.ts";

/** The limits of a body. */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly deadlineMs: number;
  /** The content coding to decode. The bounds hold for the decoded bytes. Absent: the bytes are read as they are. */
  readonly coding?: Coding | undefined;
  /** Reserves bytes before they are read: the declared length, or each piece. Throws when the bound is reached. */
  readonly hold?: (bytes: number) => void;
}

/** The bytes that a body without a length reserves at a time. */
const STEP_BYTES = 65_536;

/** Maximum of bytes that one turn of the event loop reads. */
const TURN_BYTES = 65_536;
const TURN_CHUNKS = 1_024;

/** The rest of the body is not read, so the connection cannot be used again. */
const CLOSE = { headers: { connection: "close" } };

/**
 * The whole body. Throws `body_too_large` as soon as the limit is known to be passed, `body_timeout` after the deadline,
 * `client_closed` when the client goes away.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limits.maxBytes) return Promise.reject(tooLarge(limits.maxBytes));
  // The client left while its key was looked up. Its events have fired already.
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
    const deadlines = deadlinesOf(limits.deadlineMs);
    const deadline = deadlines.begin(() => {
      fail(new GatewayError("body_timeout", `The body did not arrive within ${limits.deadlineMs} ms.`, CLOSE));
    });
    let hasFailed = false;
    const fail = (error: GatewayError): void => {
      hasFailed = true;
      deadlines.end(deadline);
      source.removeAllListeners("data");
      if (source !== request) {
        request.unpipe();
        request.removeAllListeners("data");
        source.destroy();
      }
      request.pause();
      reject(error);
    };
    const chunks = watchChunks(request);
    chunks?.whenTiny(() => fail(chunksTooSmall()));
    let turnBytes = 0;
    let turnChunks = 0;
    /** Defers the rest to another turn of the event loop, or to the decoder. */
    const rest = (bytes: number): void => {
      turnBytes += bytes;
      turnChunks += 1;
      if (turnBytes < TURN_BYTES && turnChunks < TURN_CHUNKS) return;
      turnBytes = 0;
      turnChunks = 0;
      request.pause();
      const goOn = (): void => void (hasFailed || request.resume());
      // Many small chunks are as much work as a large piece: one such body is read in each turn.
      if (chunks?.areSmall === true) void nextTurn().then(goOn);
      else setImmediate(goOn);
    };
    source.on("data", (chunk: Buffer) => {
      if (source === request) rest(chunk.length);
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
      deadlines.end(deadline);
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
  const said = `The body comes in more than ${MAX_TINY_CHUNKS} chunks of less than ${MIN_CHUNK_BYTES} bytes on average; send larger chunks.`;
  return new GatewayError("invalid_json", said, CLOSE);
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError("body_too_large", `The body is larger than ${maxBytes} bytes.`, CLOSE);
}
