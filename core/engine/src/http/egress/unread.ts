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
  const discard = (): void => {
    socket.pause();
    waiting.push(socket);
    if (waiting.length === 1) setTimeout(readNext, READ_EVERY_MS);
  };
  // A first listener for `data` makes Node take the connection from the parser, which has a
  // listener as well.
  socket.on("data", discard);
  socket.removeAllListeners("data");
  socket.on("data", discard);
  // Node calls this after the last reply of a connection.
  socket.destroySoon = () => linger(socket);
}

function linger(socket: Socket): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer)).once("end", () => socket.destroy());
  socket.end();
  socket.resume();
}

/** Connections with data to discard, in their order. */
const waiting: Socket[] = [];

function readNext(): void {
  const socket = waiting.shift();
  if (waiting.length > 0) setTimeout(readNext, READ_EVERY_MS);
  if (socket?.destroyed === false) socket.resume();
}
