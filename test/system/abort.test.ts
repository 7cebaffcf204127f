/** Clients that go away: the upstream is left at once, and one row stays. */

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream, type UpstreamAction } from "@sluice/kit/testing";
import { chat, MESSAGES, openaiClient, spendRows } from "./client.ts";
import { eventually } from "./eventually.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";

const ABORTS = 50;
const CLOSE_DEADLINE_MS = 2_000;
/** Replies take longer than the longest wait before an abort, so that there is always something to abort. */
const MAX_WAIT_MS = 80;
const LONG_TEXT = "word ".repeat(200);
const SLOW: Readonly<Record<string, UpstreamAction>> = {
  "a stream, before its headers": { kind: "hang" },
  "a stream, between headers and content": { kind: "reply", fault: { kind: "hang", after: 1 } },
  "a stream, in the middle": { kind: "reply", text: LONG_TEXT, eventDelayMs: 2 },
  "a whole reply, before its headers": { kind: "reply", delayMs: 5_000 },
  "a whole reply, in the middle": { kind: "reply", text: LONG_TEXT, drip: { bytes: 5, everyMs: 5 } },
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

const requestOf = (user: string) => upstream.waitFor((request) => request.parsed?.["user"] === user);

/** Waits until the upstream has lost the request's connection. Returns how long that took since `abortedAtMs`. */
async function closedAfterMs(user: string, abortedAtMs: number): Promise<number> {
  const record = await upstream.waitFor(
    (request) => request.parsed?.["user"] === user && request.closedByPeerAtMs !== undefined,
    CLOSE_DEADLINE_MS,
  );
  return (record.closedByPeerAtMs ?? Infinity) - abortedAtMs;
}

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
      const reply = await openaiClient(gateway).chat.completions.create(request, { signal: leaving.signal });
      if (Symbol.asyncIterator in reply) for await (const chunk of reply) if (chunk.choices[0]?.delta.content) leaving.abort();
    })().catch((error: unknown) => error);
    const { eventsSent } = await requestOf(name);
    expect(eventsSent).toBeLessThan(200);
    if (status === "failure") leaving.abort();
    await outcome;
    expect(leaving.signal.aborted).toBe(true);
    expect(await closedAfterMs(name, Date.now())).toBeLessThan(CLOSE_DEADLINE_MS);
    expect(await rowsOfUser(name)).toMatchObject([{ attempt: 1, status, error_code: "client_closed" }]);
  });
});

describe("many clients that abort at random moments", () => {
  it("each free the upstream, and each leave one row", async () => {
    const kinds = Object.keys(SLOW);
    const tookMs = await Promise.all(
      Array.from({ length: ABORTS }, async (_, index) => {
        await pause(index * 7);
        return abortOnce(`random-${index}`, kinds[index % kinds.length] ?? "");
      }),
    );
    tookMs.sort((left, right) => left - right);
    const at = (share: number) => tookMs[Math.min(ABORTS - 1, Math.floor(ABORTS * share))];
    console.log(`aborts ${ABORTS}, upstream closed after: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
    expect(tookMs).toHaveLength(ABORTS);
    expect(tookMs.at(-1)).toBeLessThan(CLOSE_DEADLINE_MS);
    const mine = await eventually(`${ABORTS} rows`, async () => {
      const rows = (await spendRows(gateway, {})).filter((row) => row.end_user?.startsWith("random-"));
      return rows.length >= ABORTS && rows;
    });
    expect(new Set(mine.map((row) => row.end_user)).size).toBe(ABORTS);
    expect(mine).toHaveLength(ABORTS);
    expect(mine.every((row) => row.attempt === 1 && row.status !== "success" && row.error_code === "client_closed")).toBe(true);
  });
});

async function abortOnce(user: string, kind: string): Promise<number> {
  upstream.script(user, SLOW[kind] ?? { kind: "hang" });
  const leaving = new AbortController();
  const body = { model: "gpt-4o-mini", messages: MESSAGES, user, stream: kind.startsWith("a stream") };
  const outcome = chat(gateway, body, { signal: leaving.signal })
    .then((response) => response.text())
    .catch(() => "left");
  await requestOf(user);
  await pause(Math.random() * MAX_WAIT_MS);
  const abortedAtMs = Date.now();
  leaving.abort();
  expect(await outcome).toBe("left");
  return closedAfterMs(user, abortedAtMs);
}
