/** Listeners: a Node server with limits of its own. */

import type { RequestListener, Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, type Socket, Server as TcpServer } from "node:net";
import { writeParserError, writeSocketError } from "../egress/parser-error.ts";
import {
  refuseExpectation,
  withLateContinue,
  withKnownFraming,
  withBoundedPipeline,
} from "./protocol.ts";
import { wrongMethod } from "../intake/find-route.ts";
import { createServer } from "../node-http.ts";
import { withWatchedChunks } from "../ingress/bytes/tiny-chunks.ts";
import type { TlsFiles } from "./tls-files.ts";

/**
 * Limits against slow and wide clients. The checker's interval matters: at its default of 30 s a
 * header limit of 10 s waits 30.
 */
const LIMITS = {
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16_384,
  // Unread data of a slow client is held twice, as text and as bytes.
  highWaterMark: 16_384,
  noDelay: true,
  // Checked with the other headers, so that the refusal has a body.
  requireHostHeader: false,
};
const MAX_CONNECTIONS = 20_000;
const MAX_HEADERS = 100;

/** A listener that is open. */
export interface Listener {
  readonly server: Server;
  /** `http://host:port`, with the port the system gave. */
  readonly url: string;
  readonly port: number;
  /** Keeps accepting, but each further reply ends its connection. */
  dismiss(): void;
  /**
   * Stops accepting. Existing connections are served: each reply has `connection: close`, and a
   * connection is closed after `idleMs` without a request. Resolves when the last connection has
   * ended.
   */
  retire(idleMs?: number): Promise<void>;
  /** Retires with a short limit, then cuts the remaining connections. */
  close(): Promise<void>;
}

/**
 * How long a connection may stay idle after `retire`: its client may be about to send, and finds
 * out with the next reply.
 */
const RETIRED_IDLE_MS = 5_000;
/**
 * The same at the end of the process: for connections that were accepted, and requests that were
 * sent, a moment before.
 */
const LAST_IDLE_MS = 100;

/** How a listener is opened. */
export interface ListenOptions {
  /** Whether workers share it. Default: true. */
  readonly isShared?: boolean;
  /** Absent: HTTP without TLS. */
  readonly tls?: TlsFiles | undefined;
}

/** Opens a listener. Rejects when the address cannot be used. */
export function listen(
  handler: RequestListener,
  host: string,
  port: number,
  { isShared = true, tls }: ListenOptions = {},
): Promise<Listener> {
  const bounded = withKnownFraming(withBoundedPipeline(withWatchedChunks(handler)));
  const server = tls === undefined ? createServer(LIMITS, bounded) : openTlsServer(bounded, tls);
  const sockets = tls === undefined ? undefined : openSockets(server);
  server.maxConnections = MAX_CONNECTIONS;
  server.maxHeadersCount = MAX_HEADERS;
  server.on("clientError", writeParserError);
  server.on("checkContinue", withLateContinue(bounded));
  server.on("checkExpectation", refuseExpectation);
  server.on("connect", (_request, socket) => writeSocketError(socket, wrongMethod("CONNECT", [])));
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, exclusive: !isShared }, () => {
      server.off("error", reject);
      const address = server.address() as AddressInfo;
      const shown = address.family === "IPv6" ? `[${address.address}]` : address.address;
      resolve({
        server,
        url: `${tls === undefined ? "http" : "https"}://${shown}:${address.port}`,
        port: address.port,
        dismiss: () => dismissClients(server),
        retire: (idleMs = RETIRED_IDLE_MS) => retireServer(server, idleMs),
        close: () => closeServer(server, sockets),
      });
    });
  });
}

/** The limit of a handshake is that of a request's headers. A failed handshake has no answer. */
function openTlsServer(handler: RequestListener, tls: TlsFiles): Server {
  const server = createTlsServer(
    { ...LIMITS, ...tls.options, handshakeTimeout: LIMITS.headersTimeout },
    handler,
  );
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  tls.renew(server);
  return server as unknown as Server;
}

/** The TCP connections of a TLS server. The server itself does not know those in a handshake. */
function openSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

async function closeServer(
  server: Server,
  sockets: ReadonlySet<Socket> = new Set(),
): Promise<void> {
  const late = setTimeout(() => {
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
  }, 2 * LAST_IDLE_MS);
  await retireServer(server, LAST_IDLE_MS);
  clearTimeout(late);
}

function dismissClients(server: Server): void {
  server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false;
  });
}

function retireServer(server: Server, idleMs: number): Promise<void> {
  server.keepAliveTimeout = idleMs;
  dismissClients(server);
  const idle = setTimeout(() => server.closeIdleConnections(), idleMs);
  return new Promise((resolve) => {
    // An HTTP server's own `close` ends idle connections at once, under clients that are about to
    // send on them.
    TcpServer.prototype.close.call(server, () => {
      clearTimeout(idle);
      resolve();
    });
  });
}
