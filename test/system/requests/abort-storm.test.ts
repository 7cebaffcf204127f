/**
 * Five hundred clients that leave at random moments: the upstream is freed, nothing follows, and
 * one row of each stays.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream, type UpstreamAction } from "@sluice/testing";
import { admin, chat, MESSAGES, rowsOf, type SpendRow, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, NEVER_EJECTS } from "../support/workspace.ts";

const ABORTS = 500;
const QUEUED = 80;
/**
 * One client comes in every so many milliseconds: what is measured is the gateway, and not the test
 * waiting for itself.
 */
const EVERY_MS = 6;
/**
 * Replies take longer than the longest wait before an abort, so that there is always something to
 * abort.
 */
const MAX_WAIT_MS = 80;
const LONG_TEXT = "word ".repeat(400);
const BACK_OFF = "in a retry's back-off";
const UPSTREAM_BUSY: Readonly<Record<string, UpstreamAction>> = {
  "a stream, before its headers": { kind: "hang" },
  "a stream, between headers and content": { kind: "reply", fault: { kind: "hang", after: 1 } },
  "a stream, in the middle": { kind: "reply", text: LONG_TEXT, eventDelayMs: 2 },
  "a whole reply, before its headers": { kind: "hang" },
  "a whole reply, in the middle": {
    kind: "reply",
    text: LONG_TEXT,
    drip: { bytes: 5, everyMs: 5 },
  },
};
const KINDS = [...Object.keys(UPSTREAM_BUSY), BACK_OFF];

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    balance: NEVER_EJECTS,
    models: [
      '{ id: "wide/*", targets: [{ provider: openai, model: "*" }] }',
      `{ id: narrow, targets: [{ provider: openai, model: narrow, max_parallel: 1, queue: ${QUEUED}, queue_timeout: 60s }] }`,
    ],
  });
  const path = join(workspace.pipelinesFolder, "chat.yaml");
  const retry = "{ use: retry, with: { attempts: 2, budget: 100%, retry_after_max: 60s } }";
  writeFileSync(path, readFileSync(path, "utf8").replace(/^( +- )retry\b.*$/m, `$1${retry}`));
  gateway = await startGateway(workspace);
  // The tables that cut streams are counted with are loaded at the first count, which is not what
  // is measured here.
  upstream.script({ kind: "reply", text: "word ".repeat(40), usage: "never" });
  await eventually("exact counts", async () => {
    const response = await chat(gateway, { model: "wide/any", messages: MESSAGES });
    await response.text();
    return (
      (await rowsOf(gateway, response.headers.get("x-request-id")))[0]?.completion_tokens === 41
    );
  });
  upstream.reset();
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await upstream?.close();
});

interface DeploymentState {
  readonly deployment: string;
  readonly in_flight: number;
  readonly queued: number;
}

async function deployments(): Promise<readonly DeploymentState[]> {
  return (
    (await (await admin(gateway, "/deployments")).json()) as { deployments: DeploymentState[] }
  ).deployments;
}

/** A request that its client can leave. */
function begin(user: string, model: string, stream: boolean): () => Promise<number> {
  const leaving = new AbortController();
  const outcome = chat(
    gateway,
    { model, messages: MESSAGES, user, stream },
    { signal: leaving.signal },
  )
    .then((response) => response.text())
    .catch(() => "left");
  return async () => {
    const leftAtMs = Date.now();
    leaving.abort();
    expect(await outcome).toBe("left");
    return leftAtMs;
  };
}

/**
 * Leaves while the upstream has the request. Returns how long it took until the upstream was free.
 */
async function leaveUpstream(user: string, kind: string): Promise<number | undefined> {
  const isBackOff = kind === BACK_OFF;
  upstream.script(user, UPSTREAM_BUSY[kind] ?? { kind: "error", status: 503, retryAfter: "50" });
  const leave = begin(user, "wide/any", kind.startsWith("a stream"));
  const record = await upstream.waitFor((request) => request.parsed?.["user"] === user);
  if (isBackOff) await upstream.waitFor((request) => request === record && request.finished);
  await pause(Math.random() * MAX_WAIT_MS);
  const leftAtMs = await leave();
  if (isBackOff) return undefined;
  const { closedByPeerAtMs = Infinity } = await upstream.waitFor(
    (request) => request === record && request.closedByPeerAtMs !== undefined,
  );
  return closedByPeerAtMs - leftAtMs;
}

/**
 * Leaves a deployment's queue, one by one, while another request holds its only slot to the end.
 */
async function leaveQueue(): Promise<void> {
  upstream.script("holds", { kind: "hang" });
  const release = begin("holds", "narrow", true);
  await upstream.waitFor((request) => request.parsed?.["user"] === "holds");
  const leaves = Array.from({ length: QUEUED }, (_, index) =>
    begin(`queued-${index}`, "narrow", index % 2 === 0),
  );
  await eventually("a full queue", async () =>
    (await deployments()).some(({ queued }) => queued === QUEUED),
  );
  await Promise.all(
    leaves.map(async (leave) => {
      await pause(Math.random() * (ABORTS - QUEUED) * EVERY_MS);
      await leave();
    }),
  );
  await eventually("an empty queue", async () =>
    (await deployments()).every(({ queued }) => queued === 0),
  );
  await release();
}

it(`${ABORTS} clients that leave free the upstream and every slot, dispatch nothing more, and leave one row each`, async () => {
  const others = ABORTS - QUEUED - 1;
  const [tookMs] = await Promise.all([
    Promise.all(
      Array.from({ length: others }, async (_, index) => {
        await pause(index * EVERY_MS);
        return leaveUpstream(`random-${index}`, KINDS[index % KINDS.length] ?? "");
      }),
    ),
    leaveQueue(),
  ]);
  const idle = await eventually("every slot to be free", async () => {
    const states = await deployments();
    return (
      states.every(({ in_flight: inFlight, queued }) => inFlight === 0 && queued === 0) && states
    );
  });
  const rows = await eventually(`${ABORTS} rows`, async () => {
    const found = (await spendRows(gateway, {})).filter(({ end_user: user }) => user !== null);
    return found.length >= ABORTS && found;
  });
  const closedMs = tookMs.filter((ms) => ms !== undefined).toSorted((left, right) => left - right);
  const at = (share: number) => closedMs[Math.floor((closedMs.length - 1) * share)];
  console.info(
    `aborts: ${ABORTS}, of those ${closedMs.length} closed at the upstream after p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms; rows ${rows.length}`,
  );
  expect(idle.map(({ deployment }) => deployment).toSorted()).toEqual([
    "openai/*",
    "openai/narrow",
  ]);
  expect(rows).toHaveLength(ABORTS);
  expect(new Set(rows.map(({ end_user: user }) => user)).size).toBe(ABORTS);
  expect(rows.filter((row) => !isRight(row))).toEqual([]);
  // One request each of those who had an upstream, and none of those who queued.
  const users = upstream.requests.map(({ parsed }) => String(parsed?.["user"]));
  expect(users).toHaveLength(others + 1);
  expect(new Set(users).size).toBe(others + 1);
  expect(users.filter((user) => user.startsWith("queued-"))).toEqual([]);
});

/**
 * Who queued has made no attempt; whose retry was to come has one, which is the upstream's failure;
 * all others were cut.
 */
function isRight({ attempt, status, error_code: code, end_user: user }: SpendRow): boolean {
  if (status === "success") return false;
  if (user?.startsWith("queued-") === true) return attempt === 0 && code === "client_closed";
  const index = user === "holds" ? 0 : Number(user?.slice("random-".length));
  const isBackOff = KINDS[index % KINDS.length] === BACK_OFF;
  return attempt === 1 && (isBackOff ? code === "upstream_overloaded" : code === "client_closed");
}
