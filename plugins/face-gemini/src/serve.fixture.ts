/** A gateway in small: the face behind a server, with scripted replies of the reference dialect. */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { GatewayError, isGatewayError, type JsonObject } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { clientOf, face } from "./google.fixture.ts";

/** What the pipeline answers: a completion, chunks, or a failure among them. */
export type Scripted = JsonObject | GatewayError | readonly (JsonObject | GatewayError)[];

/** A running server and the requests that it got. */
export interface Served {
  readonly url: string;
  readonly bodies: JsonObject[];
  /** The next reply. */
  reply: Scripted;
  /** Whether a client reads all of a stream at once, as one that was busy does. */
  isReadAtOnce: boolean;
  close(): void;
}

const CONTEXT = { requestId: "r-1", model: "m", startedAtMs: 0, seal: (text: string) => text };
const MEANS = { open: () => undefined };

/** Starts the server on a free port of the loopback address. */
export async function serve(): Promise<Served> {
  const bodies: JsonObject[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const headers = request.headers as Readonly<Record<string, string>>;
      const client = clientOf(request.url ?? "", headers);
      try {
        if (request.method === "GET") {
          const one = client.parameters.model;
          const entry = { id: one ?? "a/b:c", metadata: { context_window: 1_000 } };
          const list = { object: "list", data: [entry] };
          json(
            response,
            200,
            one === undefined ? face.models?.list(list, client) : face.models?.one(entry),
          );
          return;
        }
        const { body, state } = face.read(documentOf(text), client, MEANS);
        bodies.push(body);
        if (client.path.endsWith(":countTokens")) return json(response, 200, face.count?.(7));
        if (isGatewayError(served.reply)) throw served.reply;
        if (!Array.isArray(served.reply))
          return json(response, 200, face.whole(served.reply as JsonObject, state, CONTEXT));
        void stream(response, served, state);
      } catch (error) {
        if (!isGatewayError(error)) throw error;
        const { status, body } = face.error(error, "r-1");
        json(response, status, body);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const served: Served = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    reply: {},
    isReadAtOnce: false,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return served;
}

function json(response: ServerResponse, status: number, body: JsonObject | undefined): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Each text is a chunk of the network, as the client reads them, or all are one. */
async function stream(
  response: ServerResponse,
  { reply, isReadAtOnce }: Served,
  state: unknown,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const writer = face.stream(state, CONTEXT);
  let held = "";
  const write = async (text: string): Promise<void> => {
    if (isReadAtOnce) held += text;
    if (isReadAtOnce || text === "") return;
    await new Promise<void>((resolve) => response.write(text, () => setImmediate(resolve)));
  };
  for (const chunk of reply as readonly (JsonObject | GatewayError)[]) {
    if (isGatewayError(chunk)) {
      await write(writer.failure(chunk));
      await write(writer.failureAlone?.(chunk) ?? "");
      response.end(held);
      return;
    }
    await write(face.heartbeat);
    await write(writer.chunk(chunk));
  }
  await write(writer.end());
  response.end(held);
}

/** A chunk with a delta. */
export function delta(members: JsonObject, finish: string | null = null): JsonObject {
  return { choices: [{ index: 0, delta: members, finish_reason: finish }] };
}

/** A completion of one message. */
export function completion(message: JsonObject, finish = "stop"): JsonObject {
  return {
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    usage: USAGE,
  };
}

/** Eleven tokens, four of them thoughts. */
export const USAGE: JsonObject = {
  prompt_tokens: 5,
  completion_tokens: 6,
  total_tokens: 11,
  prompt_tokens_details: { cached_tokens: 2 },
  completion_tokens_details: { reasoning_tokens: 4 },
};
