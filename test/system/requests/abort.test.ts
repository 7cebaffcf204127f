/** Clients that go away: the upstream is left at once, and one row stays. */

import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream, type UpstreamAction } from "@sluice/testing";
import { MESSAGES, openaiClient, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

/** Far below every timeout of the gateway: nothing else than the client's end ends the calls. */
const CLOSE_DEADLINE_MS = 20_000;
const LONG_TEXT = "word ".repeat(200);
const SLOW: Readonly<Record<string, UpstreamAction>> = {
  "a stream, before its headers": { kind: "hang" },
  "a stream, between headers and content": { kind: "reply", fault: { kind: "hang", after: 1 } },
  "a stream, in the middle": {
    kind: "reply",
    text: LONG_TEXT,
    fault: { kind: "hang", after: 20 },
  },
  "a whole reply, before its headers": { kind: "hang" },
  "a whole reply, in the middle": {
    kind: "reply",
    text: LONG_TEXT,
    fault: { kind: "hang", after: 500 },
  },
};

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const requestOf = (user: string) =>
  upstream.waitFor((request) => request.parsed?.["user"] === user);

/** Waits until the upstream has lost the request's connection. */
const closedOf = (user: string) =>
  upstream.waitFor(
    (request) => request.parsed?.["user"] === user && request.closedByPeerAtMs !== undefined,
    CLOSE_DEADLINE_MS,
  );

/** The rows of a user's requests, once there are any. */
const rowsOfUser = (user: string) =>
  eventually(`rows of ${user}`, async () => {
    const rows = (await spendRows(gateway, {})).filter((row) => row.end_user === user);
    return rows.length > 0 && rows;
  });

describe("a client of the SDK that aborts", () => {
  it.each([
    ["a stream, before its headers", "failure"],
    ["a stream, between headers and content", "failure"],
    ["a stream, in the middle", "partial"],
    ["a whole reply, before its headers", "failure"],
    ["a whole reply, in the middle", "failure"],
  ])("%s", async (name, status) => {
    upstream.script(name, SLOW[name] ?? { kind: "hang" });
    const leaving = new AbortController();
    const stream = name.startsWith("a stream");
    const request = { model: "gpt-4o-mini", messages: MESSAGES, user: name, stream };
    const outcome = (async () => {
      const reply = await openaiClient(gateway).chat.completions.create(request, {
        signal: leaving.signal,
      });
      if (Symbol.asyncIterator in reply)
        for await (const chunk of reply) if (chunk.choices[0]?.delta.content) leaving.abort();
    })().catch((error: unknown) => error);
    const { eventsSent } = await requestOf(name);
    expect(eventsSent).toBeLessThan(200);
    if (status === "failure") leaving.abort();
    await outcome;
    expect(leaving.signal.aborted).toBe(true);
    await closedOf(name);
    expect(await rowsOfUser(name)).toMatchObject([
      { attempt: 1, status, error_code: "client_closed" },
    ]);
  });
});

describe("a client that ends its side of the connection", () => {
  // core/decisions/2026-11-22-half-closed-clients.md: it looks like one that is gone.
  it.each([false, true])(
    "has left: no answer, and a row that says so; streamed: %s",
    async (stream) => {
      const user = `half-closed ${stream}`;
      upstream.script(user, { kind: "hang" });
      const body = JSON.stringify({ model: "gpt-4o-mini", messages: MESSAGES, user, stream });
      const head = [
        "POST /v1/chat/completions HTTP/1.1",
        "host: x",
        `authorization: Bearer ${gateway.masterKey}`,
        "content-type: application/json",
        `content-length: ${Buffer.byteLength(body)}`,
      ];
      let received = "";
      const port = Number(new URL(gateway.publicUrl).port);
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      socket.on("data", (chunk) => (received += chunk.toString()));
      socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
      await requestOf(user);
      socket.end();
      await once(socket, "close");
      expect(received).toBe("");
      await closedOf(user);
      expect(await rowsOfUser(user)).toMatchObject([
        { attempt: 1, status: "failure", error_code: "client_closed" },
      ]);
    },
  );
});
