/**
 * An upstream that speaks the OpenAI format and says which edit sent the request. It remembers
 * nothing, however long it runs.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseJson } from "@sluice/kit";

/** A running one. */
export interface FakeUpstream {
  readonly baseUrl: string;
  readonly requests: number;
  close(): Promise<void>;
}

const WORDS = 8;
const EVENT_DELAY_MS = 5;
const USAGE = { prompt_tokens: 5, completion_tokens: WORDS, total_tokens: 5 + WORDS };

/** Starts the upstream on a free port of this machine. */
export async function startFakeUpstream(): Promise<FakeUpstream> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get requests() {
      return requests;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = parseJson(Buffer.concat(chunks).toString("utf8")) as {
    readonly model?: string;
    readonly stream?: boolean;
  };
  const edit = String(request.headers["openai-organization"] ?? "edit-none");
  const head = { id: "soak", created: 1, model: body.model ?? "" };
  if (body.stream !== true) {
    const message = { role: "assistant", content: [edit, ...filler()].join(" ") };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...head, object: "chat.completion", choices, usage: USAGE }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null, more: object = {}): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(
      `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices, ...more })}\n\n`,
    );
  };
  send({ role: "assistant", content: edit }, null);
  for (const word of filler()) {
    await new Promise((resolve) => setTimeout(resolve, EVENT_DELAY_MS));
    send({ content: ` ${word}` }, null);
  }
  send({}, "stop");
  response.write(
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [], usage: USAGE })}\n\n`,
  );
  response.end("data: [DONE]\n\n");
}

function filler(): string[] {
  return Array.from({ length: WORDS - 1 }, () => "word");
}
