/**
 * Clients that read nothing: the upstream is held back, they are cut, and what they cost is in the
 * ledger.
 */

import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chat, MESSAGES, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const READERS = 5;
/** More than the system holds for two connections, so that every reader stalls its upstream. */
const STREAM_BYTES = 64 * 1024 * 1024;
/** More than the system holds for one connection, and no more than a reply may have. */
const WHOLE_BYTES = 15 * 1024 * 1024;
const STALL_MS = 400;
const EVENT = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content: "word ".repeat(200) }, finish_reason: null }] })}\n\n`;
const BATCH = EVENT.repeat(50);
const WHOLE = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "x".repeat(WHOLE_BYTES) },
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** Bytes that each stream could write, and whether its connection has ended. */
const streams: { bytes: number; isClosed: boolean }[] = [];
/** What the stream of a shared call waits for: its second reader, and its end. */
const shared = { isRead: Promise.withResolvers<void>(), isOver: Promise.withResolvers<void>() };
let server: Server;
let gateway: GatewayProcess;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const piece of request) body += String(piece);
  if (!body.includes('"stream":true')) {
    response.writeHead(200, { "content-type": "application/json" }).end(WHOLE);
    return;
  }
  const stream = { bytes: 0, isClosed: false };
  streams.push(stream);
  const gone = new AbortController();
  response.once("close", () => {
    stream.isClosed = true;
    gone.abort();
  });
  response.writeHead(200, { "content-type": "text/event-stream" });
  const isShared = body.includes('"user":"shares"');
  if (isShared) {
    response.write(EVENT);
    await shared.isRead.promise;
  }
  while (stream.bytes < STREAM_BYTES && !gone.signal.aborted) {
    stream.bytes += BATCH.length;
    if (!response.write(BATCH))
      await once(response, "drain", { signal: gone.signal }).catch(() => undefined);
  }
  if (isShared) await shared.isOver.promise;
  response.end("data: [DONE]\n\n");
}

beforeAll(async () => {
  streams.length = 0;
  shared.isRead = Promise.withResolvers();
  shared.isOver = Promise.withResolvers();
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  gateway = await startGateway({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    server: `stalled_client_timeout: ${STALL_MS}ms`,
  });
});
afterAll(async () => {
  await gateway?.dispose();
  server?.closeAllConnections();
  server?.close();
});

/** A client that asks, and reads nothing. Its connection is open until the gateway ends it. */
function stall(user: string, stream: boolean, asked = gateway, more: object = {}): Socket {
  const { port, host } = new URL(asked.publicUrl);
  const body = JSON.stringify({ model: "gpt-4o-mini", messages: MESSAGES, stream, user, ...more });
  const socket = connect(Number(port), "127.0.0.1");
  socket.pause();
  socket.on("error", () => undefined);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${asked.masterKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

const rowsOfUser = async (user: string) =>
  (await spendRows(gateway, {})).filter((row) => row.end_user === user);

it("of a stream hold back the upstream, and are cut", async () => {
  const sockets = Array.from({ length: READERS }, () => stall("stalls", true));
  const rows = await eventually(
    "rows of all",
    async () => {
      const found = await rowsOfUser("stalls");
      return found.length === READERS && found;
    },
    20_000,
  );
  await eventually(
    "upstreams to be left",
    () => streams.length === READERS && streams.every(({ isClosed }) => isClosed),
  );
  for (const socket of sockets) socket.destroy();
  console.table({
    readers: READERS,
    "MB offered": STREAM_BYTES / 2 ** 20,
    "MB taken of a stream, at most": Math.max(...streams.map(({ bytes }) => bytes)) / 2 ** 20,
  });
  expect(Math.max(...streams.map(({ bytes }) => bytes))).toBeLessThan(STREAM_BYTES);
  for (const row of rows) {
    expect(row).toMatchObject({
      status: "partial",
      error_code: "client_stalled",
      usage_source: "estimated",
      cost_status: "priced",
    });
    // What was counted is a sample of a text of megabytes: "word " is one token in five characters.
    expect(row.completion_tokens).toBeGreaterThan(10_000);
  }
}, 40_000);

it("are cut at their time, not at twice of it", async () => {
  const workspace = createWorkspace({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    server: "stalled_client_timeout: 2s",
  });
  const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
  const text = readFileSync(pipeline, "utf8");
  // The deadline of the route ends who is cut later.
  writeFileSync(pipeline, text.replace("deadline: 600s", "deadline: 3500ms"));
  const other = await startGateway(workspace);
  const socket = stall("late", true, other);
  try {
    const [row] = await eventually(
      "the row",
      async () => {
        const rows = await spendRows(other, {});
        return rows.length > 0 && rows;
      },
      20_000,
    );
    expect(row).toMatchObject({ status: "partial", error_code: "client_stalled" });
  } finally {
    socket.destroy();
    await other.dispose();
  }
}, 40_000);

it("of a whole reply are cut as well, and the reply is paid for", async () => {
  const socket = stall("whole", false);
  const [row] = await eventually(
    "the row",
    async () => {
      const found = await rowsOfUser("whole");
      return found.length > 0 && found;
    },
    20_000,
  );
  expect(row).toMatchObject({ status: "success", usage_source: "provider" });
  // Its end is seen only when what the system holds has been read: nothing more comes than that.
  await eventually("the gateway to have nothing in flight", async () => (await inFlight()) === 0);
  let bytes = 0;
  socket.on("data", (chunk) => (bytes += chunk.length));
  socket.resume();
  await once(socket, "close");
  expect(bytes).toBeLessThan(WHOLE.length);
}, 40_000);

it("leave a shared call to those that read it", async () => {
  const leader = stall("shares", true, gateway, { caching: true });
  const begun = streams.length;
  await eventually("the call", () => streams.length > begun);
  const response = await chat(gateway, {
    model: "gpt-4o-mini",
    messages: MESSAGES,
    stream: true,
    user: "shares",
    caching: true,
  });
  expect(response.headers.get("x-sluice-cache")).toBe("hit");
  shared.isRead.resolve();
  const decoder = new TextDecoder();
  let bytes = 0;
  let end = "";
  for await (const piece of response.body ?? []) {
    if (bytes < STREAM_BYTES && bytes + piece.length >= STREAM_BYTES)
      setTimeout(shared.isOver.resolve, STALL_MS * 5);
    bytes += piece.length;
    end = (end + decoder.decode(piece, { stream: true })).slice(-1_000);
  }
  // A stream that fails has no such end.
  expect(end.slice(-100)).toContain("data: [DONE]\n\n");
  // The one that read nothing has its beginning, and no end.
  let read = 0;
  leader.on("data", (piece) => (read += piece.length));
  leader.resume();
  await once(leader, "close");
  expect(read).toBeLessThan(bytes);
}, 40_000);

it("are not those that read slowly, but read", async () => {
  const response = await chat(gateway, {
    model: "gpt-4o-mini",
    messages: MESSAGES,
    stream: true,
    user: "slow",
  });
  const reader = response.body?.getReader();
  // For longer than the bound, and each time more than the system waits for before it takes
  // anything new.
  for (let round = 0; round < 6; round++) {
    for (let bytes = 0; bytes < 2 * 1024 * 1024;) {
      const piece = await reader?.read();
      expect(piece?.done).toBe(false);
      bytes += piece?.value?.length ?? 0;
    }
    await new Promise((resolve) => setTimeout(resolve, STALL_MS / 4));
  }
  await reader?.cancel();
  const [row] = await eventually("the row", async () => {
    const found = await rowsOfUser("slow");
    return found.length > 0 && found;
  });
  expect(row).toMatchObject({ status: "partial", error_code: "client_closed" });
});

/** Leases on the live generation: requests whose response is open or whose rows are not settled. */
async function inFlight(): Promise<number> {
  const response = await fetch(`${gateway.adminUrl}/config/status`, {
    headers: { authorization: `Bearer ${gateway.masterKey}` },
  });
  const { live } = (await response.json()) as { live: { leases: number } };
  return live.leases;
}
