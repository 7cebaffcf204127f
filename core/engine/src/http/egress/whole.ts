/** Whole replies on the wire: the bytes as they are. A long reply is written in turns. */

import type { WholeReply } from "@sluice/contract";
import {
  type Holder,
  mayMoveOn,
  moveLater,
  textPieces,
  unwrittenPieces,
} from "@sluice/kit/internals";
import { blocksInTurns, byteLengthInTurns } from "@sluice/runtime/transport";
import { drained } from "./drained.ts";
import type { Outgoing } from "./outgoing.ts";

/**
 * The piece size of a longer reply. A piece is written when the client has read the one before, and
 * the turn of the event loop has not moved much.
 */
const PIECE_BYTES = 65_536;
/** A text with more characters is written or counted in turns of the event loop of its own. */
const LONG_CHARACTERS = 262_144;

/**
 * Writes a reply. A long one goes out in pieces, so that a slow client's data is held once.
 * `holder`: whose reply it is.
 */
export function writeWhole(
  response: Outgoing,
  reply: WholeReply,
  headers: string[],
  holder: Holder | undefined,
): Promise<void> | undefined {
  const { pieces } = reply.document;
  if (pieces !== undefined) return writePieces(response, reply.status, pieces, headers, holder);
  const texts = unwrittenPieces(reply.document, LONG_CHARACTERS);
  if (texts !== undefined) return writeTexts(response, reply.status, texts, headers, holder);
  const { bytes } = reply.document;
  const isText = typeof bytes === "string";
  if (!isText && !(bytes instanceof Uint8Array))
    throw new TypeError("the document's bytes are no bytes");
  if (isText && bytes.length > LONG_CHARACTERS)
    return writeLongText(response, reply.status, bytes, headers, holder);
  const length = isText ? Buffer.byteLength(bytes) : bytes.length;
  headers.push("content-type", "application/json", "content-length", String(length));
  response.writeHead(reply.status, headers);
  if (length > PIECE_BYTES)
    return isText ? writeText(response, bytes, holder) : writeBytes(response, [bytes], holder);
  if (!isText) response.end(bytes);
  // As many bytes as characters: the text is ASCII, which Node writes as it is.
  else response.end(bytes, length === bytes.length ? "latin1" : "utf8");
  return undefined;
}

function writePieces(
  response: Outgoing,
  status: number,
  pieces: readonly Uint8Array[],
  headers: string[],
  holder: Holder | undefined,
): Promise<void> | undefined {
  if (!pieces.every((piece) => piece instanceof Uint8Array))
    throw new TypeError("a piece of the document is no bytes");
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  headers.push("content-type", "application/json", "content-length", String(length));
  response.writeHead(status, headers);
  if (length > PIECE_BYTES) return writeBytes(response, pieces, holder);
  response.cork();
  for (const piece of pieces) response.write(piece);
  response.end();
  response.uncork();
  return undefined;
}

async function writeTexts(
  response: Outgoing,
  status: number,
  texts: Iterable<string>,
  headers: string[],
  holder: Holder | undefined,
): Promise<void> {
  const blocks = await blocksInTurns(whileOpen(texts, response), undefined, holder);
  if (!response.destroyed) await writePieces(response, status, blocks, headers, holder);
}

/** The texts until the client is gone. */
function* whileOpen(texts: Iterable<string>, response: Outgoing): Generator<string> {
  for (const text of texts) {
    if (response.destroyed) return;
    yield text;
  }
}

async function writeBytes(
  response: Outgoing,
  parts: readonly Uint8Array[],
  holder: Holder | undefined,
): Promise<void> {
  for (const part of parts) {
    for (let from = 0; from < part.length; from += PIECE_BYTES) {
      await written(response, part.subarray(from, from + PIECE_BYTES), holder);
      if (response.destroyed) return;
    }
  }
  response.end();
}

async function writeLongText(
  response: Outgoing,
  status: number,
  text: string,
  headers: string[],
  holder: Holder | undefined,
): Promise<void> {
  const length = await byteLengthInTurns(text, undefined, holder);
  if (response.destroyed) return;
  headers.push("content-type", "application/json", "content-length", String(length));
  response.writeHead(status, headers);
  return writeText(response, text, holder);
}

async function writeText(
  response: Outgoing,
  text: string,
  holder: Holder | undefined,
): Promise<void> {
  for (const piece of textPieces(text, PIECE_BYTES)) {
    await written(response, piece, holder);
    if (response.destroyed) return;
  }
  response.end();
}

/** Writes a piece. Resolves when the client has read its backlog, in a turn that may write more. */
async function written(
  response: Outgoing,
  piece: Uint8Array | string,
  holder: Holder | undefined,
): Promise<void> {
  if (!response.write(piece, "utf8")) await drained(response);
  if (!mayMoveOn(piece.length)) await new Promise<void>((goOn) => moveLater(goOn, holder));
}
