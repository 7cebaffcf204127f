/**
 * Bodies that are refused unread: the answer is sent, the rest is discarded without parsing, the
 * connection closes.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How long a client that still writes may go on, in milliseconds, before its connection closes. */
const LINGER_MS = 2_000;
/**
 * The interval in which all these connections together discard one read: 64 MB a second, some
 * percent of a core.
 */
const READ_EVERY_MS = 1;
/** A smaller rest of a body is read to its end, and the connection is used again. */
const MAX_SMALL_BODY_BYTES = 65_536;

/** Whether the rest of the request is too large to be read for the connection's sake. */
export function isLargeRest(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const { "transfer-encoding": coding, "content-length": length = 0 } = request.headers;
  return coding !== undefined || Number(length) > MAX_SMALL_BODY_BYTES;
}

/** What Node's handle of a socket offers beside its public interface. */
interface ReadHandle {
  /** Called after each read, and at the end of the data. */
  onread: (data: ArrayBuffer | undefined) => unknown;
  readStart(): number;
  readStop(): number;
  /** From now on data is read into this buffer, and `onread` gets none. */
  useUserBuffer(buffer: Uint8Array): void;
}

/**
 * What all these connections read, one over the other. With a buffer for each read, V8 collected
 * its whole heap three times a second for their sake.
 */
const discarded = new Uint8Array(65_536);

/**
 * Makes a reply the last of its connection, before its head is written, and takes the connection
 * from the HTTP parser. Closing under a client that still writes resets the connection, and the
 * client may lose the answer (RFC 9112 9.6). So the gateway ends its side after the answer and
 * discards data until the client ends its side, for two seconds at most.
 */
export function leaveUnread(response: ServerResponse): void {
  const { req: request } = response;
  const { socket } = request;
  response.shouldKeepAlive = false;
  // The parser's rest of this read.
  request.push = () => false;
  // A first listener for `data` makes Node take the connection from the parser, which has a
  // listener as well.
  const ignore = (): void => undefined;
  socket.on("data", ignore);
  socket.removeAllListeners("data");
  discardReads(socket);
  // Node calls this after the last reply of a connection.
  socket.destroySoon = () => linger(socket);
}

/** Discards what a socket receives, one read at a time, without an allocation. */
function discardReads(socket: Socket): void {
  const { _handle: handle } = socket as unknown as { readonly _handle: ReadHandle | null };
  if (handle === null) return;
  const { onread } = handle;
  const connection: Discarding = { socket, handle, isWaiting: false };
  handle.onread = (data) => {
    // Node's own function sees a chunk without bytes, an error, or the end of the data.
    const result = onread.call(handle, data);
    if (socket.destroyed || connection.isWaiting) return result;
    handle.readStop();
    connection.isWaiting = true;
    waiting.push(connection);
    if (waiting.length === 1) setTimeout(readNext, READ_EVERY_MS);
    return result;
  };
  handle.useUserBuffer(discarded);
  socket.resume();
}

function linger(socket: Socket): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer)).once("end", () => socket.destroy());
  socket.end();
  socket.resume();
}

/** A connection whose data is discarded. */
interface Discarding {
  readonly socket: Socket;
  readonly handle: ReadHandle;
  isWaiting: boolean;
}

/** Connections that may discard a read, in their order. */
const waiting: Discarding[] = [];

function readNext(): void {
  const next = waiting.shift();
  if (waiting.length > 0) setTimeout(readNext, READ_EVERY_MS);
  if (next === undefined) return;
  next.isWaiting = false;
  if (!next.socket.destroyed) next.handle.readStart();
}
