/**
 * A real HTTP server that speaks the OpenAI formats of chat, embeddings and images as a script
 * says, and remembers the truth.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { errorObject } from "./upstream/bodies.ts";
import { play } from "./upstream/play.ts";
import {
  openRecord,
  recordBody,
  Watchers,
  type OpenRecord,
  type UpstreamRequest,
} from "./upstream/record.ts";
import { ScriptBook, type UpstreamAction, type UpstreamScript } from "./upstream/script.ts";

export type { UpstreamRequest } from "./upstream/record.ts";
export { PIXEL, vectorOf } from "./upstream/media-bodies.ts";
export { wireFixture } from "./upstream/fixture.ts";
export { DEFAULT_TEXT, GARBAGE } from "./upstream/script.ts";
export type * from "./upstream/script.ts";

const WAIT_MS = 60_000;

/** A running test upstream. Each has its own port, scripts and ledger. */
export interface Upstream {
  /** `http://127.0.0.1:port`, without a slash. */
  readonly url: string;
  /** `url` and `/v1`: what a provider's `base_url` is. */
  readonly baseUrl: string;
  /** The truth ledger, in the order in which the requests arrived. */
  readonly requests: readonly UpstreamRequest[];
  /** TCP connections now, and since the start. */
  readonly connections: { readonly open: number; readonly opened: number };
  /** Sets what every request gets that no name matches. */
  script(script: UpstreamScript): void;
  /**
   * Sets what requests get whose `model` or `user` is `name`: each script once, the last one from
   * then on.
   */
  script(name: string, ...scripts: readonly UpstreamScript[]): void;
  /**
   * Resolves with the first request that the test accepts, now or later. Rejects after `timeoutMs`
   * (default 20,000). It is asked again whenever a record has changed.
   */
  waitFor(
    accept: (request: UpstreamRequest) => boolean,
    timeoutMs?: number,
  ): Promise<UpstreamRequest>;
  /** Forgets scripts and requests; numbers begin at 1 again. Connections stay. */
  reset(): void;
  /** Drops every connection and stops listening. A second call has no effect. */
  close(): Promise<void>;
}

/**
 * Starts an upstream on 127.0.0.1 and a free port. Replies depend on script and request number
 * alone, never on the clock.
 */
export async function createUpstream(): Promise<Upstream> {
  const book = new ScriptBook();
  const watchers = new Watchers();
  const requests: OpenRecord[] = [];
  const sockets = new Map<Socket, number>();
  let opened = 0;

  const server = createServer((request, response) => {
    const record = openRecord({
      number: requests.length + 1,
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      connection: sockets.get(request.socket) ?? 0,
      startedAtMs: Date.now(),
    });
    requests.push(record);
    watchers.changed();
    void answer(record, request, response, book, watchers);
  });
  server.keepAliveTimeout = 60_000;
  server.on("connection", (socket: Socket) => {
    opened += 1;
    sockets.set(socket, opened);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    baseUrl: `${url}/v1`,
    requests,
    get connections() {
      return { open: sockets.size, opened };
    },
    script(first: string | UpstreamScript, ...rest: readonly UpstreamScript[]) {
      if (typeof first === "string") book.write(first, rest);
      else book.write(undefined, [first]);
    },
    waitFor(accept, timeoutMs = WAIT_MS) {
      return watchers.wait(
        `a request that fulfils ${accept.toString()}`,
        () => requests.find(accept),
        timeoutMs,
      );
    },
    reset() {
      book.clear();
      requests.length = 0;
    },
    async close() {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  record: OpenRecord,
  request: IncomingMessage,
  response: ServerResponse,
  book: ScriptBook,
  watchers: Watchers,
): Promise<void> {
  const gone = new AbortController();
  response.once("finish", () => {
    record.finishedAtMs = Date.now();
    record.finished = true;
    record.settled = true;
    watchers.changed();
  });
  response.once("close", () => {
    if (!record.settled) record.closedByPeerAtMs = Date.now();
    record.settled = true;
    gone.abort();
    watchers.changed();
  });
  try {
    recordBody(record, await text(request));
    watchers.changed();
    await play({ record, response, signal: gone.signal }, route(record) ?? book.read(record));
  } catch (error) {
    // The peer went away, and the record says so. Anything else is a fault of the test's own
    // script: say it aloud.
    if (gone.signal.aborted || !request.complete) return;
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end(`The script of the test upstream failed: ${String(error)}`);
  }
}

const SCRIPTED = new Set(["/v1/chat/completions", "/v1/embeddings", "/v1/images/generations"]);

/**
 * The answer to everything that no script answers: undefined for chat, embeddings and images
 * requests.
 */
function route({ method, path }: UpstreamRequest): UpstreamAction | undefined {
  const [pathname] = path.split("?");
  if (SCRIPTED.has(pathname ?? "") && method === "POST") return undefined;
  if (pathname === "/v1/models" && method === "GET")
    return { kind: "bytes", body: '{"object":"list","data":[]}' };
  return {
    kind: "bytes",
    status: 404,
    body: JSON.stringify(errorObject({ status: 404, message: `Unknown URL ${path}` })),
  };
}
