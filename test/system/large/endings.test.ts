/**
 * Large requests whose client leaves, or whose deadline passes, while they are read, judged or
 * written in slices: the rest is not done, no call is made, and nothing stays reserved.
 */

import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, createKey, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const MESSAGES = Array.from({ length: 12_000 }, (_, at) => ({
  role: at % 2 === 0 ? "user" : "assistant",
  content: `word-${at} ${"\u00e9t\u00e9 ".repeat(60)}`,
}));
/** Each face: the path, and the large part of its body. */
const FACES: Readonly<Record<string, readonly [path: string, body: object]>> = {
  chat: ["/v1/chat/completions", { messages: MESSAGES }],
  messages: ["/v1/messages", { max_tokens: 9, messages: MESSAGES }],
  responses: ["/v1/responses", { store: false, input: MESSAGES }],
};
const KEY = 'api_key: "${env:SOME_KEY}"';
const MODELS = ["gpt-4o-mini", "claude", "command"];

let upstream: Upstream;
let gateway: GatewayProcess;
let key: { key: string; token_id: string };

beforeAll(async () => {
  upstream = await createUpstream();
  const url = upstream.baseUrl.replace(/\/v1$/, "");
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    providers: [
      `anthropic: { use: anthropic, ${KEY}, base_url: ${url} }`,
      `cohere: { use: cohere, ${KEY}, base_url: ${url} }`,
    ],
    models: [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      "{ id: claude, targets: [{ provider: anthropic, model: claude-sonnet-4-5 }] }",
      "{ id: command, targets: [{ provider: cohere, model: command-a-03-2025 }] }",
    ],
  });
  const chat = readFileSync(join(workspace.pipelinesFolder, "chat.yaml"), "utf8");
  writeFileSync(join(workspace.pipelinesFolder, "hasty.yaml"), hasty(chat));
  gateway = await startGateway(workspace, { SOME_KEY: "credential-of-the-tests-0123456789" });
  key = await createKey(gateway, { key_alias: "bounded", max_budget: 1_000 });
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await upstream?.close();
});

/** The shipped pipeline with a short deadline, on routes of its own. */
function hasty(chat: string): string {
  const routes = Object.entries(FACES).map(([face, [path]]) =>
    face === "chat"
      ? `  - POST /hasty${path}\n`
      : `  - { route: POST /hasty${path}, face: ${face} }\n`,
  );
  return chat
    .replace("pipeline: chat", "pipeline: hasty")
    .replace(/^routes:\n(?:  .*\n)*/m, `routes:\n${routes.join("")}`)
    .replace("deadline: 600s", "deadline: 20ms")
    .replace(/^tests:[^]*/m, "");
}

/** Sends a whole request, and ends the connection behind it. */
async function sendAndLeave(path: string, body: object): Promise<void> {
  const text = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: x",
    `authorization: Bearer ${key.key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
  ];
  const socket = connect(Number(new URL(gateway.publicUrl).port), "127.0.0.1");
  socket.resume();
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
  await once(socket, "close");
}

const inFlight = async (): Promise<number> => {
  const { processes } = (await (await admin(gateway, "/system")).json()) as {
    processes: { in_flight: number }[];
  };
  return processes.reduce((sum, process) => sum + process.in_flight, 0);
};

let known = 0;
/** Attempts and errors of the rows since the last look, once no request is under way. */
async function newRows(): Promise<(readonly [attempt: number, error: string | null])[]> {
  await eventually("no request under way", async () => (await inFlight()) === 0);
  const rows = await eventually("a row of each request", async () => {
    const all = await spendRows(gateway, {});
    return all.length >= known + MODELS.length && all;
  });
  const added = rows.slice(0, rows.length - known);
  known = rows.length;
  return added.map(({ attempt, error_code }) => [attempt, error_code]);
}

describe("a large request", () => {
  it.each(Object.keys(FACES))("of %s whose client has gone is not worked on", async (face) => {
    const [path, body] = FACES[face] ?? ["", {}];
    await Promise.all(MODELS.map((model) => sendAndLeave(path, { ...body, model })));
    expect(await newRows()).toEqual(MODELS.map(() => [0, "client_closed"]));
    expect(upstream.requests.length).toBe(0);
  });

  it.each(Object.keys(FACES))("of %s whose deadline passes is worked on no more", async (face) => {
    const [path, body] = FACES[face] ?? ["", {}];
    for (const model of MODELS) {
      const response = await fetch(`${gateway.publicUrl}/hasty${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key.key}`, "content-type": "application/json" },
        body: JSON.stringify({ ...body, model }),
      });
      expect([response.status, await response.text()]).toEqual([
        504,
        expect.stringContaining("deadline"),
      ]);
    }
    expect(await newRows()).toEqual(MODELS.map(() => [0, "deadline_exceeded"]));
    expect(upstream.requests.length).toBe(0);
  });

  it("gives back what it has reserved", async () => {
    const verified = await admin(gateway, "/spend/budgets/verify");
    expect(await verified.json()).toMatchObject({ differences: [] });
    const info = await admin(gateway, `/key/info?key=${key.token_id}`);
    expect(await info.json()).toMatchObject({ info: { spend: 0 } });
  });
});
