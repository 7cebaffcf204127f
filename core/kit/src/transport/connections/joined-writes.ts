/**
 * Joined writes: the head and the body of a small request leave in one buffer. undici writes them
 * one behind the other, and a vectored write costs more than the copy of a few kilobytes.
 */

import { Socket } from "node:net";

/** A longer request is written in its pieces: its copy would cost more. */
const MAX_BYTES = 16_384;

/** A piece as Node's streams hand it to `_writev`. */
interface Piece {
  readonly chunk: string | Uint8Array;
  readonly encoding: string;
}

type WriteAll = NonNullable<Socket["_writev"]>;
type Written = Parameters<WriteAll>[1];

/** Joins the small writes of a connection. `connection`: what a connector has opened. */
export function joinWrites(connection: unknown): void {
  if (connection instanceof Socket) connection._writev = writeAll;
}

function writeAll(this: Socket, pieces: readonly Piece[], done: Written): void {
  const bytes = joined(pieces);
  if (bytes === undefined) Socket.prototype._writev?.call(this, pieces as Piece[] as never, done);
  else this._write(bytes, "buffer" as BufferEncoding, done);
}

/** The bytes of all pieces; `undefined` for many bytes, and for texts that are not Latin-1. */
function joined(pieces: readonly Piece[]): Buffer | undefined {
  let length = 0;
  for (const { chunk, encoding } of pieces) {
    if (typeof chunk === "string" && encoding !== "latin1") return undefined;
    length += chunk.length;
  }
  if (length > MAX_BYTES) return undefined;
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { chunk } of pieces) {
    if (typeof chunk === "string") bytes.write(chunk, at, "latin1");
    else bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
