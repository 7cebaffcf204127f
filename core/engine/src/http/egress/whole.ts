/** Whole replies on the wire: the bytes as they are. */

import type { ServerResponse } from "node:http";
import type { WholeReply } from "@sluice/spec";

/** Writes a reply in one piece. */
export function writeWhole(response: ServerResponse, reply: WholeReply, headers: string[]): void {
  const { pieces } = reply.document;
  if (pieces !== undefined) {
    writePieces(response, reply.status, pieces, headers);
    return;
  }
  const { bytes } = reply.document;
  const isText = typeof bytes === "string";
  if (!isText && !(bytes instanceof Uint8Array)) throw new TypeError("the document's bytes are no bytes");
  const length = isText ? Buffer.byteLength(bytes) : bytes.length;
  headers.push("content-type", "application/json", "content-length", String(length));
  response.writeHead(reply.status, headers);
  if (!isText) response.end(bytes);
  // As many bytes as characters: the text is ASCII, which Node writes as it is.
  else response.end(bytes, length === bytes.length ? "latin1" : "utf8");
}

function writePieces(response: ServerResponse, status: number, pieces: readonly Uint8Array[], headers: string[]): void {
  if (!pieces.every((piece) => piece instanceof Uint8Array)) throw new TypeError("a piece of the document is no bytes");
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  headers.push("content-type", "application/json", "content-length", String(length));
  response.writeHead(status, headers);
  response.cork();
  for (const piece of pieces) response.write(piece);
  response.end();
  response.uncork();
}
