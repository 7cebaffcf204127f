/** Writes the body of a call: that of a large request in turns of the event loop. */

import { Buffer } from "node:buffer";
import type { EncodedCall, HttpCall, JsonDocument, MaybePromise } from "@sluice/contract";
import { type Ending, type Holder, nextTurn, unwrittenPieces } from "@sluice/kit/internals";
import { encodeInTurns } from "./prepare-call.ts";

/** Memory of a block. */
const BLOCK_BYTES = 1_048_576;
/** The approximate length of a slice, in milliseconds. */
const TURN_MS = 2;

/**
 * A call with its body as bytes or as a text. `isLarge`: the request is a large one, so its
 * document is written in turns. Rejects with the reason of an ending that comes between two turns.
 */
export function withWrittenBody(
  call: EncodedCall,
  isLarge: boolean,
  ending: Ending,
): MaybePromise<HttpCall> {
  const { body } = call;
  if (body === undefined || body instanceof Uint8Array) return call as HttpCall;
  const written =
    typeof body === "string" ? encodeInTurns(body, ending) : writtenBody(body, isLarge, ending);
  if (written instanceof Promise) return written.then((bytes) => ({ ...call, body: bytes }));
  return written === body ? (call as HttpCall) : { ...call, body: written };
}

function writtenBody(
  document: JsonDocument,
  isLarge: boolean,
  ending: Ending,
): MaybePromise<Uint8Array | string> {
  const pieces = isLarge ? unwrittenPieces(document) : undefined;
  if (pieces !== undefined) return writeInTurns(pieces, ending);
  const { bytes } = document;
  return typeof bytes === "string" ? encodeInTurns(bytes, ending) : bytes;
}

async function writeInTurns(pieces: Iterable<string>, ending: Ending): Promise<Uint8Array> {
  const blocks = await blocksInTurns(pieces, ending);
  const bytes = Buffer.allocUnsafeSlow(blocks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const block of blocks) {
    await nextTurn(ending);
    bytes.set(block, at);
    at += block.length;
  }
  await nextTurn(ending);
  return bytes;
}

/**
 * Texts as UTF-8 in blocks of about a MiB, written in turns of the event loop. Each text ends
 * between two characters. Rejects with what the texts throw, and with the reason of the ending.
 * `holder`: as of `nextTurn`.
 */
export async function blocksInTurns(
  pieces: Iterable<string>,
  ending?: Ending,
  holder?: Holder,
): Promise<readonly Uint8Array[]> {
  const blocks = new Blocks();
  await nextTurn(ending, holder);
  let untilMs = performance.now() + TURN_MS;
  for (const piece of pieces) {
    blocks.add(piece);
    if (performance.now() <= untilMs) continue;
    await nextTurn(ending, holder);
    untilMs = performance.now() + TURN_MS;
  }
  return blocks.take();
}

/** Texts as UTF-8 in blocks. */
class Blocks {
  readonly #full: Uint8Array[] = [];
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #used = 0;

  /** Adds a text that ends between two characters. */
  add(text: string): void {
    // A unit of UTF-16 has at most three bytes.
    const maxBytes = text.length * 3;
    if (maxBytes > this.#block.length - this.#used) this.#open(Math.max(BLOCK_BYTES, maxBytes));
    this.#used += this.#block.write(text, this.#used, "utf8");
  }

  take(): readonly Uint8Array[] {
    this.#open(0);
    return this.#full;
  }

  #open(bytes: number): void {
    if (this.#used > 0) this.#full.push(this.#block.subarray(0, this.#used));
    this.#block = Buffer.allocUnsafeSlow(bytes);
    this.#used = 0;
  }
}
