/** Reads a request body with a bound and a deadline, without its content coding. */

import type { IncomingMessage } from "node:http";
import { type Readable, PassThrough, type Transform } from "node:stream";
import {
  asBuffer,
  type Deadline,
  deadlinesOf,
  Gathered,
  type Holder,
  mayMoveOn,
  moveLater,
  nextTurn,
} from "@sluice/kit/internals";
import { GatewayError } from "@sluice/contract";
import { type ChunkWatch, MAX_TINY_CHUNKS, MIN_CHUNK_BYTES, watchChunks } from "./tiny-chunks.ts";
import { createGunzip, createInflate, createInflateRaw } from "node:zlib";

/** The limits of a body. */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly deadlineMs: number;
  /**
   * The content coding to decode. The bounds hold for the decoded bytes. Absent: the bytes are read
   * as they are.
   */
  readonly coding?: Coding | undefined;
  /**
   * Reserves bytes before they are read: the declared length, or each piece. Throws when the bound
   * is reached.
   */
  readonly hold?: (bytes: number) => void;
  /** Whose body it is, for the turns that it shares. Absent: it is not known. */
  readonly holder?: Holder | undefined;
}

/** The bytes that a body without a length reserves at a time. */
const STEP_BYTES = 65_536;

/** What follows so many bytes shares the turns of the event loop with other bodies. */
const LARGE_BYTES = 65_536;
/** Maximum of chunks that one turn reads. */
const TURN_CHUNKS = 1_024;

/** The rest of the body is not read, so the connection cannot be used again. */
const CLOSE = { headers: { connection: "close" } };

/**
 * The whole body. Throws `body_too_large` as soon as the limit is known to be passed,
 * `body_timeout` after the deadline, `client_closed` when the client goes away.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limits.maxBytes) return Promise.reject(tooLarge(limits.maxBytes));
  // The client left while its key was looked up. Its events have fired already.
  if (request.destroyed && !request.complete) return Promise.reject(gone());
  if (declared > 0) {
    try {
      limits.hold?.(declared);
    } catch (error) {
      return Promise.reject(error as GatewayError);
    }
  }
  return new Promise((resolve, reject) => begin(request, limits, declared, resolve, reject));
}

/**
 * One body that is being read. A literal, because every request makes one: private members cost a
 * call each to set.
 */
interface Reading {
  readonly request: IncomingMessage;
  readonly limits: BodyLimits;
  /** The request itself, or what decodes it. */
  readonly source: Readable;
  readonly gathered: Gathered;
  readonly hasLength: boolean;
  readonly chunks: ChunkWatch | undefined;
  readonly reject: (error: GatewayError) => void;
  deadline: Deadline | undefined;
  hasFailed: boolean;
  heldBytes: number;
  turnChunks: number;
}

function begin(
  request: IncomingMessage,
  limits: BodyLimits,
  declared: number,
  resolve: (body: Buffer) => void,
  reject: (error: GatewayError) => void,
): void {
  const { coding, deadlineMs } = limits;
  const hasLength = coding === undefined && request.headers["content-length"] !== undefined;
  const reading: Reading = {
    request,
    limits,
    source: coding === undefined ? request : decoded(request, coding),
    gathered: new Gathered(hasLength ? declared : 0),
    hasLength,
    chunks: watchChunks(request),
    reject,
    deadline: undefined,
    hasFailed: false,
    heldBytes: declared,
    turnChunks: 0,
  };
  reading.deadline = deadlinesOf(deadlineMs).begin(() => {
    fail(
      reading,
      new GatewayError("body_timeout", `The body did not arrive within ${deadlineMs} ms.`, CLOSE),
    );
  });
  reading.chunks?.whenTiny(() => fail(reading, chunksTooSmall()));
  reading.source.on("data", (chunk: Buffer) => take(reading, chunk));
  reading.source.on("end", () => {
    reading.deadline?.end();
    resolve(asBuffer(reading.gathered.take()));
  });
  const onGone = (): void => {
    if (!request.complete) fail(reading, gone());
  };
  if (coding !== undefined) {
    reading.source.on("error", () =>
      fail(reading, new GatewayError("invalid_json", `The body is not valid ${coding}.`, CLOSE)),
    );
  }
  request.on("error", onGone);
  request.on("close", onGone);
}

function take(reading: Reading, chunk: Buffer): void {
  const { source, request, gathered, limits } = reading;
  const size = gathered.length + chunk.length;
  if (source === request) shareTurn(reading, chunk.length, size);
  if (size > limits.maxBytes) {
    fail(reading, tooLarge(limits.maxBytes));
    return;
  }
  if (!reading.hasLength && size > reading.heldBytes && !holdMore(reading, size)) return;
  gathered.push(chunk);
}

/** Counts the next bytes of a body without a length. Returns whether there is room for them. */
function holdMore(reading: Reading, size: number): boolean {
  const more = Math.max(STEP_BYTES, size - reading.heldBytes);
  reading.heldBytes += more;
  try {
    reading.limits.hold?.(more);
    return true;
  } catch (error) {
    fail(reading, error as GatewayError);
    return false;
  }
}

/**
 * Leaves what follows a chunk to a later turn of the event loop if this one has read enough. What
 * is decoded waits for its decoder.
 */
function shareTurn(reading: Reading, bytes: number, size: number): void {
  const { request, limits, chunks, hasLength, heldBytes } = reading;
  reading.turnChunks += chunks?.newChunks() ?? 0;
  const isFull = size > LARGE_BYTES && !mayMoveOn(bytes);
  const isOver = hasLength && size === heldBytes;
  if ((!isFull && reading.turnChunks < TURN_CHUNKS) || isOver) return;
  reading.turnChunks = 0;
  request.pause();
  const goOn = (): void => void (reading.hasFailed || request.resume());
  // Many small chunks are as much work as a large piece: one such body is read in each turn.
  if (chunks?.areSmall === true) void nextTurn(undefined, limits.holder).then(goOn);
  else moveLater(goOn, limits.holder);
}

function fail(reading: Reading, error: GatewayError): void {
  const { source, request } = reading;
  reading.hasFailed = true;
  reading.deadline?.end();
  source.removeAllListeners("data");
  if (source !== request) {
    request.unpipe();
    request.removeAllListeners("data");
    source.destroy();
  }
  request.pause();
  reading.reject(error);
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

/** A coding that the gateway reads. */
export type Coding = "gzip" | "deflate";

/**
 * The coding of a request; `undefined` for none. Throws nothing: any other name is returned as
 * `unknown`.
 */
export function codingOf({ headers }: IncomingMessage): Coding | "unknown" | undefined {
  const coding = headers["content-encoding"]?.trim().toLowerCase();
  if (coding === undefined || coding === "" || coding === "identity") return undefined;
  if (coding === "gzip" || coding === "x-gzip") return "gzip";
  return coding === "deflate" ? "deflate" : "unknown";
}

/**
 * The bytes of a body without its coding. `deflate` is zlib's format; some clients send the raw
 * one, which the first byte shows. The `error` event reports a damaged or incomplete body.
 */
function decoded(request: IncomingMessage, coding: Coding): Readable {
  if (coding === "gzip") return request.pipe(createGunzip());
  const output = new PassThrough();
  let inflate: Transform | undefined;
  request.on("data", (chunk: Buffer) => {
    if (inflate === undefined) {
      const isZlib = ((chunk[0] ?? 0) & 0x0f) === 8;
      inflate = isZlib ? createInflate() : createInflateRaw();
      inflate.on("error", (error) => output.destroy(error));
      inflate.pipe(output);
      output.once("close", () => inflate?.destroy());
      inflate.on("drain", () => request.resume());
    }
    if (!inflate.write(chunk)) request.pause();
  });
  request.once("end", () => (inflate === undefined ? output.end() : inflate.end()));
  return output;
}
