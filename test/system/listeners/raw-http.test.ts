/**
 * Clients below the SDK: bodies that are far too large, that never end, and bytes that are no HTTP.
 */

import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

const LARGE_BYTES = 4_000_000;
const ATTEMPTS = 30;

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGateway({ server: "max_body: 2kb" });
});
afterAll(async () => {
  await gateway?.dispose();
});

/** Writes bytes to the public listener. Resolves with what came back until the connection ended. */
function send(text: string, leave: (received: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(Number(new URL(gateway.publicUrl).port), "127.0.0.1", () => {
      socket.write(text, () => leave(received) && socket.destroy());
    });
    socket.on("data", (bytes) => {
      received += String(bytes);
      if (leave(received)) socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
}

const headersOf = (more: readonly string[]) =>
  [
    "POST /v1/chat/completions HTTP/1.1",
    "host: gateway",
    `authorization: Bearer ${gateway.masterKey}`,
    "content-type: application/json",
    ...more,
    "\r\n",
  ].join("\r\n");

describe("a body that is much larger than the limit", () => {
  it.each(["with its length declared", "in chunks"])(
    "always gets the refusal, also while the client still writes: %s",
    async (how) => {
      const body = new Blob(["x".repeat(LARGE_BYTES)]);
      const outcomes = new Set<unknown>();
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const init = {
          body: how === "in chunks" ? body.stream() : await body.text(),
          duplex: "half",
        };
        outcomes.add(
          await chat(gateway, "", init as RequestInit).then(({ status }) => status, String),
        );
      }
      expect([...outcomes]).toEqual([413]);
    },
  );
});

describe("a client that leaves in the middle of its body", () => {
  it("leaves one row and no error in the log", async () => {
    const before = await spendRows(gateway, {});
    await send(`${headersOf(["content-length: 500"])}{"model"`, () => true);
    const rows = await eventually("its row", async () => {
      const all = await spendRows(gateway, {});
      return all.length > before.length && all;
    });
    expect(rows).toHaveLength(before.length + 1);
    expect(rows[0]).toMatchObject({
      attempt: 0,
      status: "failure",
      error_code: "client_closed",
      spend: 0,
    });
    expect(gateway.stderr).not.toContain('"level":50');
  });
});

describe("bytes that Node's parser refuses", () => {
  const refused = [
    ["no HTTP at all", "HELLO\r\n\r\n", 400],
    [
      "headers that are too large",
      `GET /v1/models HTTP/1.1\r\nhost: x\r\nx-long: ${"a".repeat(20_000)}\r\n\r\n`,
      431,
    ],
    [
      "two lengths",
      "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      400,
    ],
  ] as const;

  it.each([
    ["a coding before chunked", "transfer-encoding: gzip, chunked", 501, "HTTP/1.1"],
    ["a coding alone", "transfer-encoding: gzip", 501, "HTTP/1.1"],
    ["two headers", "transfer-encoding: gzip\r\ntransfer-encoding: chunked", 501, "HTTP/1.1"],
    [
      "a coding that expects",
      "transfer-encoding: gzip, chunked\r\nexpect: 100-continue",
      501,
      "HTTP/1.1",
    ],
    ["chunks of HTTP/1.0", "transfer-encoding: chunked", 400, "HTTP/1.0"],
    ["HTTP/2.0", "content-length: 0", 505, "HTTP/2.0"],
    ["HTTP/0.9", "content-length: 0", 505, "HTTP/0.9"],
    ["HTTP/3.7", "content-length: 0", 505, "HTTP/3.7"],
  ])("unknown framing ends the connection: %s", async (_name, header, status, version) => {
    const key = `authorization: Bearer ${gateway.masterKey}\r\ncontent-type: application/json`;
    const body = "2\r\n{}\r\n0\r\n\r\n";
    // What follows may be a part of the body: it gets no answer.
    const next = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n";
    const text = await send(
      `POST /v1/chat/completions ${version}\r\nhost: x\r\n${key}\r\n${header}\r\n\r\n${body}${next}`,
    );
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*connection: close`, "i"));
    expect(text.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
    expect(text).toContain(`"code":${status}`);
  });

  it.each(refused)(
    "close the connection with a status, and no other connection: %s",
    async (_name, text, status) => {
      expect(await send(text)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect((await fetch(`${gateway.publicUrl}/health/live`)).status).toBe(200);
    },
  );

  it("are answered on a connection that has served a request before", async () => {
    const { hostname, port } = new URL(gateway.publicUrl);
    const socket = connect(Number(port), hostname);
    let received = "";
    socket.setEncoding("utf8").on("data", (text: string) => (received += text));
    socket.write("GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n");
    await eventually("the first answer", () => received.includes('{"status":"ok"}'));
    socket.write("HELLO\r\n\r\n");
    await eventually(
      "the refusal",
      () => received.includes("HTTP/1.1 400 ") && received.endsWith("}}"),
    );
    expect(received).toMatch(/HTTP\/1\.1 400 [\s\S]*"code":400/);
    socket.destroy();
  });

  it("are answered like every other refusal, with a JSON body and a request id", async () => {
    for (const [, text] of refused)
      expect(await send(text)).toMatch(/x-request-id: [\s\S]*"code":4\d\d/);
  });
});
