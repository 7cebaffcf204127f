/**
 * A reverse proxy before the admin listener, with a prefix or without: what a browser sees of a
 * gateway behind one.
 */

import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";

/** A site. */
export interface Site {
  /** `http://127.0.0.1:port/a/b/ui/` */
  readonly url: string;
  /** Requests that reached it, newest last. */
  readonly requests: readonly SiteRequest[];
  /** Answers in place of the gateway, until it is taken away. */
  intercept(answer: Interceptor | undefined): void;
  /** Holds requests back, until it is called without a path. */
  hold(isHeld: ((path: string) => boolean) | undefined, held: (() => void)[]): void;
  /** Sends the requests to another gateway from now on. */
  target(adminUrl: string): void;
  /** Nothing listens any more, and every connection is gone. */
  stop(): Promise<void>;
  /** Listens again at the same address. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** A request to a site. */
export interface SiteRequest {
  readonly method: string;
  /** Without the prefix. */
  readonly path: string;
}

/** Answers a request itself and returns true, or leaves it to the gateway. */
export type Interceptor = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

/** Serves a gateway under a prefix. */
export async function serveDashboard(adminUrl: string, prefix = ""): Promise<Site> {
  const requests: SiteRequest[] = [];
  let to = new URL(adminUrl);
  let interceptor: Interceptor | undefined;
  let holding: { isHeld: (path: string) => boolean; held: (() => void)[] } | undefined;
  const server = createServer((incoming, response) => {
    const url = incoming.url ?? "";
    if (!url.startsWith(`${prefix}/`)) {
      response.writeHead(404).end();
      return;
    }
    const path = url.slice(prefix.length);
    requests.push({ method: incoming.method ?? "", path });
    if (interceptor?.(path, incoming, response) === true) return;
    if (holding?.isHeld(path) === true)
      holding.held.push(() => passOn(to, path, incoming, response));
    else passOn(to, path, incoming, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}${prefix}/ui/`,
    requests,
    intercept: (answer) => (interceptor = answer),
    hold(isHeld, held) {
      holding = isHeld === undefined ? undefined : { isHeld, held };
      if (isHeld === undefined) for (const pass of held.splice(0)) pass();
    },
    target: (next) => (to = new URL(next)),
    stop,
    async start() {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
    async close() {
      if (server.listening) await stop();
    },
  };
}

function passOn(to: URL, path: string, incoming: IncomingMessage, response: ServerResponse): void {
  const outgoing = request(
    {
      host: to.hostname,
      port: to.port,
      method: incoming.method ?? "GET",
      path,
      headers: incoming.headers,
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  outgoing.on("error", () => response.destroy());
  response.on("close", () => outgoing.destroy());
  incoming.pipe(outgoing);
}
