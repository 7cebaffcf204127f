/**
 * Connections that are used badly: left in the middle of a native stream, filled with requests,
 * with bodies in one-byte chunks.
 */

import { readFileSync } from "node:fs";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, MESSAGES, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, MASTER_KEY, startOwnProcess } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { readMetrics } from "../support/prometheus.ts";

const MB = 1024 * 1024;
const WHOLE = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [
    { index: 0, message: { role: "assistant", content: "x".repeat(2_000) }, finish_reason: "stop" },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const EVENT = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "word " } }] })}\n\n`;

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startOwnProcess({
    baseUrl: `${upstream.url}/v1`,
    server: "stalled_client_timeout: 1s",
  });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

function open(text: string): Socket {
  const { port, hostname } = new URL(gateway.publicUrl);
  const socket = connect(Number(port), hostname, () => socket.write(text));
  return socket.on("error", () => undefined);
}

function post(path: string, body: string, more = ""): string {
  return `POST ${path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${MASTER_KEY}\r\ncontent-type: application/json\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const rssBytes = (): number =>
  1_024 *
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1] ?? 0);

describe("a client of a native stream", () => {
  /**
   * A stream that goes on until its client has left: an event at once and then more, as fast as
   * they are read or slowly.
   */
  function stream(isFast: boolean): void {
    upstream.answer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const piece = isFast ? EVENT.repeat(2_000) : EVENT;
      const timer = setInterval(() => {
        if (!response.writableNeedDrain) response.write(piece);
      }, 5);
      response.once("close", () => clearInterval(timer));
    });
  }

  const body = (user: string): string =>
    JSON.stringify({ model: "gpt-4o", stream: true, messages: MESSAGES, user });

  it.each([
    ["ends its connection", (socket: Socket) => socket.destroy(), false],
    ["resets it", (socket: Socket) => socket.resetAndDestroy(), false],
    ["ends it without having read", (socket: Socket) => socket.destroy(), true],
    ["resets it without having read", (socket: Socket) => socket.resetAndDestroy(), true],
  ])("that %s has closed it, and the gateway has not failed", async (user, leave, isUnread) => {
    stream(isUnread);
    const socket = open(post("/openai/v1/chat/completions", body(user)));
    if (isUnread) await once(socket, "readable");
    else await once(socket, "data");
    leave(socket);
    expect(await endOf(user)).toEqual(ENDED("client_closed"));
  });

  it("that reads nothing is cut as stalled, and the gateway has not failed", async () => {
    stream(true);
    const socket = open(post("/openai/v1/chat/completions", body("stalled")));
    socket.pause();
    expect(await endOf("stalled")).toEqual(ENDED("client_stalled"));
    socket.destroy();
  }, 30_000);

  const ENDED = (code: string) => ({
    status: "partial",
    code,
    isCounted: true,
    internalErrors: 0,
    log: "",
  });

  /** How the request of a user ended: in its row, in the metrics, in the log. */
  async function endOf(user: string) {
    const [row] = await eventually(
      "the row",
      async () => {
        const rows = await spendRows(gateway, {});
        const found = rows.filter(
          ({ end_user, error_code }) => end_user === user && error_code !== null,
        );
        return found.length > 0 && found;
      },
      20_000,
    );
    const code = row?.error_code ?? "";
    const page = readMetrics(await (await admin(gateway, "/metrics")).text());
    return {
      status: row?.status,
      code,
      isCounted: (page.sum("sluice_request_failures_total", { code }) ?? 0) > 0,
      internalErrors: page.sum("sluice_request_failures_total", { code: "internal_error" }) ?? 0,
      log: gateway.stderr
        .split("\n")
        .filter((line) => line.includes("request failed"))
        .join(),
    };
  }
});

describe("one connection", () => {
  it("has 16 requests under way and is closed with the next", async () => {
    let dispatched = 0;
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    upstream.answer((response) => {
      dispatched += 1;
      void released.then(() =>
        response.writeHead(200, { "content-type": "application/json" }).end(WHOLE),
      );
    });
    const bodies = Array.from({ length: 200 }, (_, index) =>
      JSON.stringify({ model: "gpt-4o", messages: MESSAGES, user: `p${index}` }),
    );
    const socket = open(bodies.map((body) => post("/v1/chat/completions", body)).join(""));
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    await eventually("16 calls", () => dispatched >= 16);
    // A later request of another connection is served: whatever the first one was to have, it has
    // by now.
    expect((await chat(gateway, { model: "echo", messages: MESSAGES })).status).toBe(200);
    expect(dispatched).toBe(16);
    release();
    await once(socket, "close");
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([
      ...Array<string>(16).fill("HTTP/1.1 200"),
      "HTTP/1.1 429",
    ]);
    expect(text).toContain("One connection may have 16 requests under way.");
    expect(dispatched).toBe(16);
  });

  it("answers 48 pipelined requests in order as long as 16 of them wait", async () => {
    upstream.reply(200, "application/json", WHOLE);
    let text = "";
    const socket = open("");
    socket.on("data", (chunk) => (text += String(chunk)));
    const answered = (): number => text.match(/HTTP\/1\.1 200/g)?.length ?? 0;
    for (let sent = 0; sent < 48; sent += 16) {
      socket.write(
        post(
          "/v1/chat/completions",
          JSON.stringify({ model: "gpt-4o", messages: MESSAGES }),
        ).repeat(16),
      );
      await eventually("16 answers", () => answered() === sent + 16);
    }
    socket.destroy();
    expect(answered()).toBe(48);
  });
});

describe("a body in one-byte chunks", () => {
  it("is the same body", async () => {
    upstream.reply(200, "application/json", WHOLE);
    const start = `{"model":"gpt-4o","messages":[{"role":"user","content":"ping `;
    const socket = open(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${MASTER_KEY}\r\ncontent-type: application/json\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${start.length.toString(16)}\r\n${start}\r\n`,
    );
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    await once(socket, "connect");
    // What it costs is measured by `npm run proof:bodies`.
    socket.write(`${"1\r\nx\r\n".repeat(4_000)}4\r\n"}]}\r\n0\r\n\r\n`);
    await once(socket, "close");
    expect(text).toContain("HTTP/1.1 200");
    expect(upstream.lastBody()).toMatchObject({
      messages: [{ role: "user", content: `ping ${"x".repeat(4_000)}` }],
    });
  });
});

describe("a native body that is made to hurt a JSON parser", () => {
  it.each([
    ["deep", `{"a":${"[".repeat(2 * MB)}${"]".repeat(2 * MB)},"model":"gpt-4o"}`],
    ["wide", `{"a":[${"[],".repeat(MB)}[]],"model":"gpt-4o"}`],
  ])("%s is refused before it is parsed, and costs no tree", async (_what, body) => {
    const before = rssBytes();
    const response = await fetch(`${gateway.publicUrl}/openai/v1/chat/completions`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${MASTER_KEY}`, "content-type": "application/json" },
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("The body ");
    // Its bytes and its text.
    expect(rssBytes() - before).toBeLessThan(100 * MB);
  });
});
