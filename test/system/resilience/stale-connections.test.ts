/**
 * The keep-alive race: an upstream that closes idle connections just as the next request goes out.
 */

import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { amount } from "../support/proof.ts";

const POSTS = amount(400, 2_000);
const WORKERS = amount(16, 8);
const IDLE_MS = 50;
const SPREAD_MS = 10;
const REPLY = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_700_000_000,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** How often each numbered post was answered, and how connections ended. */
const answered = new Map<string, number>();
const counts = { opened: 0, closedIdle: 0, lost: 0 };
let server: Server;
let gateway: GatewayProcess;
const sockets = new Set<Socket>();

/**
 * A connection is closed when it has been idle for about 50 ms. What arrives afterwards is never
 * looked at.
 */
function serve(socket: Socket): void {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let text = "";
  counts.opened += 1;
  sockets.add(socket);
  socket.setNoDelay(true);
  socket.on("error", () => undefined);
  socket.on("close", () => sockets.delete(socket));
  socket.on("data", (bytes) => {
    if (isClosed) {
      counts.lost += 1;
      return;
    }
    clearTimeout(timer);
    text += bytes.toString("latin1");
    const head = text.indexOf("\r\n\r\n");
    const length = Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? 0);
    if (head < 0 || text.length < head + 4 + length) return;
    const name = /post-\d+/.exec(text)?.[0] ?? "";
    text = "";
    answered.set(name, (answered.get(name) ?? 0) + 1);
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${REPLY.length}\r\n\r\n${REPLY}`,
    );
    timer = setTimeout(
      () => {
        isClosed = true;
        counts.closedIdle += 1;
        if (counts.closedIdle % 2 === 0) socket.end();
        else socket.resetAndDestroy();
      },
      IDLE_MS + (Math.random() - 0.5) * 2 * SPREAD_MS,
    );
  });
}

beforeAll(async () => {
  answered.clear();
  server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  gateway = await startGateway({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  });
});
afterAll(async () => {
  await gateway?.dispose();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server?.close(resolve));
});

describe("an upstream that closes idle connections", () => {
  it(`costs none of ${POSTS} posts its answer, and answers none twice`, async () => {
    let next = 0;
    const failures: string[] = [];
    const work = async (): Promise<void> => {
      while (next < POSTS) {
        const number = next++;
        const response = await chat(gateway, {
          model: "gpt-4o-mini",
          messages: [{ role: "user", content: `post-${number}` }],
        });
        const text = await response.text();
        if (response.status !== 200) failures.push(`${number}: ${response.status} ${text}`);
        await pause(IDLE_MS + (Math.random() - 0.5) * SPREAD_MS);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    const twice = [...answered.values()].filter((times) => times > 1).length;
    const rows = await eventually("all rows", async () => {
      const found = await spendRows(gateway, { limit: "1000" });
      return found.length > 0 && found;
    });
    console.table({
      posts: POSTS,
      "client errors": failures.length,
      "answered by the upstream": answered.size,
      "answered twice": twice,
      "connections opened": counts.opened,
      "closed while idle": counts.closedIdle,
      "lost on a closed connection": counts.lost,
      "attempts of the newest rows, at most": Math.max(...rows.map(({ attempt }) => attempt)),
    });
    expect(failures).toEqual([]);
    expect(answered.size).toBe(POSTS);
    expect(twice).toBe(0);
    expect(rows.every(({ attempt, status }) => attempt === 1 && status === "success")).toBe(true);
  });
});
