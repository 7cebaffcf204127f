/** The upstream of the proof: it answers chat requests, and counts the calls of each request. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

/** How long a reply takes: at least, and at most. */
const REPLY_MS = [20, 120] as const;
const EVENTS = 8;
const USAGE = { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 };

/** What the upstream knows of the truth. */
export interface Truth {
  readonly port: number;
  /** Calls that arrived, by the `user` of the request. */
  readonly calls: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Starts the upstream on these addresses, on one port. */
export async function startUpstream(hosts: readonly string[]): Promise<Truth> {
  const calls = new Map<string, number>();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await text(request)) as { readonly user?: string; stream?: boolean };
    const user = body.user ?? "";
    calls.set(user, (calls.get(user) ?? 0) + 1);
    const [least, most] = REPLY_MS;
    const replyMs = least + Math.random() * (most - least);
    if (body.stream === true) return await stream(response, replyMs);
    await pause(replyMs);
    const message = { role: "assistant", content: "Good day." };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        ...envelope("chat.completion"),
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: USAGE,
      }),
    );
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void serve(request, response).catch(() => response.destroy());
  const servers = hosts.map(() => createServer({ keepAliveTimeout: 60_000 }, listener));
  let port = 0;
  for (const [at, server] of servers.entries()) {
    server.listen(port, hosts[at]);
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  }
  return {
    port,
    calls,
    async close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
      await Promise.resolve();
    },
  };
}

async function stream(response: ServerResponse, replyMs: number): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let event = 0; event < EVENTS; event += 1) {
    await pause(replyMs / EVENTS);
    response.write(
      chunk({
        choices: [
          { index: 0, delta: { role: "assistant", content: "word " }, finish_reason: null },
        ],
      }),
    );
  }
  response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
  response.write(chunk({ choices: [], usage: USAGE }));
  response.end("data: [DONE]\n\n");
}

function chunk(parts: object): string {
  return `data: ${JSON.stringify({ ...envelope("chat.completion.chunk"), ...parts })}\n\n`;
}

function envelope(object: string): object {
  return { id: "chatcmpl-proof", object, created: 1_700_000_000, model: "m" };
}
