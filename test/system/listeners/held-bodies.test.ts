/** What is done before limits, and what is held: bodies of one key beside another's requests. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, createKey, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startOwnProcess } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const MB = 1024 * 1024;
const WHOLE = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  upstream.reply(200, "application/json", WHOLE);
  gateway = await startOwnProcess({ baseUrl: `${upstream.url}/v1`, server: "max_held: 48mb" });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/**
 * Sends the beginning of a body of so many bytes and stops. Resolves with the status of an answer,
 * if one comes.
 */
function upload(
  key: string,
  bytes: number,
  path = "/v1/chat/completions",
): { socket: Socket; status: Promise<number> } {
  const { port, hostname } = new URL(gateway.publicUrl);
  const socket = connect(Number(port), hostname, () => {
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n{"model":`,
    );
  });
  socket.on("error", () => undefined);
  const status = new Promise<number>((resolve) => {
    socket.once("data", (chunk) => resolve(Number(String(chunk).split(" ")[1])));
  });
  return { socket, status };
}

const statusOf = async (
  key: string,
  body: object = { model: "gpt-4o", messages: MESSAGES },
): Promise<number> => {
  const response = await chat(gateway, body, { headers: { authorization: `Bearer ${key}` } });
  await response.text();
  return response.status;
};

describe("requests and slots", () => {
  it.each([
    ["rpm", { rpm_limit: 1 }, "/v1/chat/completions"],
    ["slots", { max_parallel_requests: 1 }, "/v1/chat/completions"],
    ["rpm of a native route", { rpm_limit: 1 }, "/openai/v1/chat/completions"],
    ["slots of a native route", { max_parallel_requests: 1 }, "/openai/v1/chat/completions"],
    ["rpm of embeddings", { rpm_limit: 1 }, "/v1/embeddings"],
  ])("are taken before a body is read: %s", async (_what, fields, path) => {
    const { key } = await createKey(gateway, fields);
    const first = upload(key, 1_000, path);
    // The second one is refused while the first one still sends: nothing of it was waited for.
    const second = await eventually("a refusal", async () => {
      const next = upload(key, 1_000, path);
      const status = await Promise.race([
        next.status,
        new Promise<number>((resolve) => setTimeout(() => resolve(0), 200)),
      ]);
      next.socket.destroy();
      return status === 429 && status;
    });
    expect(second).toBe(429);
    first.socket.destroy();
  });
});

describe("a body of a key beyond its rpm", () => {
  const MANY = 20_000;
  it.each([
    ["with its length", `content-length: ${10 * MB}`, "x".repeat(MB)],
    ["in chunks", "transfer-encoding: chunked", "8\r\nxxxxxxxx\r\n".repeat(MANY)],
    ["in one-byte chunks", "transfer-encoding: chunked", "1\r\nx\r\n".repeat(MANY)],
  ])(
    "is not read: the answer comes whole, then the end of the connection: %s",
    async (_what, length, piece) => {
      const { key } = await createKey(gateway, { rpm_limit: 1 });
      expect(await statusOf(key)).toBe(200);
      const { port, hostname } = new URL(gateway.publicUrl);
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json`;
      // The client goes on writing, whatever it reads.
      socket.write(`${head}\r\n${length}\r\n\r\n${piece}`);
      socket.write(piece);
      let text = "";
      socket.on("data", (chunk) => (text += String(chunk)));
      await once(socket, "end");
      const [answer = "", body = ""] = text.split("\r\n\r\n");
      expect(answer).toMatch(/^HTTP\/1\.1 429 /);
      expect(answer.toLowerCase()).toContain("connection: close");
      expect(JSON.parse(body)).toMatchObject({ error: { type: "rate_limit_error" } });
      socket.destroy();
    },
  );

  it("that is small leaves the connection as it is", async () => {
    const { key } = await createKey(gateway, { rpm_limit: 1 });
    const { port, hostname } = new URL(gateway.publicUrl);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ model: "gpt-4o", messages: MESSAGES });
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    for (let answers = 1; answers <= 3; answers += 1) {
      socket.write(head);
      socket.write(body);
      await eventually("an answer", () => text.match(/HTTP\/1\.1 /g)?.length === answers);
    }
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 429", "HTTP/1.1 429"]);
    socket.destroy();
  });
});

describe("bodies under way", () => {
  it("of one key have a part of the bound; other keys and small bodies are served", async () => {
    const [{ key: hog }, { key: other }] = await Promise.all([
      createKey(gateway, {}),
      createKey(gateway, {}),
    ]);
    const uploads = Array.from({ length: 6 }, () => upload(hog, 8 * MB));
    const refused = await Promise.race(uploads.map(({ status }) => status));
    expect(refused).toBe(503);
    expect(await statusOf(other)).toBe(200);
    expect(await statusOf(hog)).toBe(200);
    expect(
      await statusOf(other, {
        model: "gpt-4o",
        messages: [{ role: "user", content: "x".repeat(2 * MB) }],
      }),
    ).toBe(200);
    for (const { socket } of uploads) socket.destroy();
    // Given back at the end.
    await eventually("room again", async () => (await statusOf(hog, big(6))) === 200);
  });

  it("that have no length are counted as they come", async () => {
    const { key } = await createKey(gateway, {});
    const holds = [upload(key, 16 * MB), upload(key, 16 * MB)];
    await eventually(
      "both bodies to be counted",
      async () => (await statusOf(key, big(4))) === 503,
    );
    const pieces = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(JSON.stringify(big(12))));
        controller.close();
      },
    });
    const response = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
      method: "POST",
      body: pieces,
      duplex: "half",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    } as RequestInit);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).not.toBeNull();
    for (const { socket } of holds) socket.destroy();
  });

  const big = (megabytes: number) => ({
    model: "gpt-4o",
    messages: [{ role: "user", content: "x".repeat(megabytes * MB) }],
  });
});

/** What a client gets that sends a body in chunks of one byte. */
async function sendCrumbs(path: string): Promise<string> {
  const { port, hostname } = new URL(gateway.publicUrl);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  const answer = new Promise<string>((resolve) =>
    socket.once("data", (chunk) => resolve(String(chunk))),
  );
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${gateway.masterKey}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  socket.write("1\r\n{\r\n".repeat(20_000));
  const text = await answer;
  socket.destroy();
  return text;
}

describe("a body in very many tiny chunks", () => {
  it.each(["/v1/chat/completions", "/v1/embeddings", "/openai/v1/chat/completions"])(
    "is refused: %s",
    async (path) => {
      const answer = await sendCrumbs(path);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain("chunks of less than 16 bytes");
    },
  );
});

describe("whole replies that are not read", () => {
  it("count against the bound: the gateway keeps a part of them and serves others", async () => {
    const { key } = await createKey(gateway, {});
    const long = JSON.stringify({ ...(JSON.parse(WHOLE) as object), padding: "x".repeat(10 * MB) });
    upstream.reply(200, "application/json", long);
    const { port, hostname } = new URL(gateway.publicUrl);
    const body = JSON.stringify({ model: "gpt-4o", messages: MESSAGES });
    const before = rssMb(gateway.pid);
    const earlier = upstream.requests.length;
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined).pause();
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      return socket;
    });
    try {
      await eventually("all calls", () => upstream.requests.length - earlier >= 20);
      upstream.reply(200, "application/json", WHOLE);
      const { key: other } = await createKey(gateway, {});
      expect(await statusOf(other)).toBe(200);
      // As many as the part of the key allows are kept; the others are refused.
      const heads = await Promise.all(
        sockets.map(
          (socket) =>
            new Promise<string>((resolve) =>
              socket.resume().once("data", (chunk) => resolve(String(chunk))),
            ),
        ),
      );
      // Where all come at once, each may find the part full.
      const statuses = heads.map((head) => head.split(" ")[1]);
      expect(statuses).toContain("503");
      expect(["200", "503"]).toEqual(expect.arrayContaining([...new Set(statuses)]));
      expect(rssMb(gateway.pid) - before).toBeLessThan(400);
    } finally {
      upstream.reply(200, "application/json", WHOLE);
      for (const socket of sockets) socket.destroy();
    }
    const large = { model: "gpt-4o", messages: [{ role: "user", content: "x".repeat(6 * MB) }] };
    await eventually("room again", async () => (await statusOf(key, large)) === 200);
  });

  const rssMb = (pid: number): number =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
});

describe("a compressed body", () => {
  const post = (body: Uint8Array, coding: string): Promise<Response> =>
    fetch(`${gateway.publicUrl}/v1/chat/completions`, {
      method: "POST",
      body,
      headers: {
        authorization: `Bearer ${gateway.masterKey}`,
        "content-type": "application/json",
        "content-encoding": coding,
      },
    });
  const text = JSON.stringify({
    model: "gpt-4o",
    messages: [{ role: "user", content: "Grüße ".repeat(50_000) }],
  });

  it.each([
    ["gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["identity", Buffer.from(text)],
  ])("with %s is read", async (coding, body) => {
    const response = await post(body, coding);
    expect(response.status).toBe(200);
    await response.text();
    expect(upstream.lastBody()).toMatchObject({ messages: [{ content: "Grüße ".repeat(50_000) }] });
  });

  it.each([
    ["larger than max_body when it is read", gzipSync(Buffer.alloc(30 * MB, 32)), "gzip", 413],
    ["larger, deflated", deflateSync(Buffer.alloc(30 * MB, 32)), "deflate", 413],
    ["damaged", Buffer.from("no gzip at all"), "gzip", 400],
    ["cut", gzipSync(text).subarray(0, 100), "gzip", 400],
    ["cut, deflated", deflateSync(text).subarray(0, 100), "deflate", 400],
    ["of another coding", Buffer.from(text), "br", 415],
    ["of two codings", gzipSync(gzipSync(text)), "gzip, gzip", 415],
  ])("that is %s is refused", async (_what, body, coding, status) => {
    expect((await post(body, coding)).status).toBe(status);
  });
});

describe("a calculation", () => {
  it("over 1 MB is 413", async () => {
    const response = await fetch(`${gateway.publicUrl}/spend/calculate`, {
      method: "POST",
      body: JSON.stringify({
        model: "gpt-4o",
        messages: [{ role: "user", content: "x".repeat(MB) }],
      }),
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    });
    expect(response.status).toBe(413);
  });

  it("is a request of its key", async () => {
    const { key } = await createKey(gateway, { rpm_limit: 1 });
    const calculate = async (): Promise<number> => {
      const response = await fetch(`${gateway.publicUrl}/spend/calculate`, {
        method: "POST",
        body: JSON.stringify({ model: "gpt-4o", messages: MESSAGES }),
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      });
      await response.text();
      return response.status;
    };
    expect([await calculate(), await calculate()]).toEqual([200, 429]);
  });
});
