/** `kill -9` under load, again and again: whatever a client saw end has its row, once. */

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { type SpendRow, spendRows } from "../support/client.ts";
import { pidsOf, SIZE, waitForWorkers } from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { type Load, type Seen, startLoad } from "../support/load.ts";
import { amount } from "../support/proof.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const KILLS = amount(2, 20);
const LOOPS = 16;
/** The moment of a kill: after so many responses, and somewhere within the next ones. */
const MIN_RESPONSES = amount(25, 5);
const MAX_RESPONSES = 100;
const MAX_MORE_MS = 20;
const PAGE = 1_000;
/** One of so many kills is one of all. */
const WHOLE_EVERY = amount(2, 4);

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({ baseUrl: upstream.baseUrl });
});
afterAll(async () => {
  await gateway?.kill();
  workspace?.remove();
  await upstream?.close();
});

it(`${KILLS} kills lose no row and double none`, async () => {
  const seen: Seen[] = [];
  for (let kills = 0; kills < KILLS; kills += 1) {
    gateway = await startGateway(workspace);
    const load = startLoad(gateway, LOOPS, "gpt-4o-mini");
    await someWork(load);
    expect(await gateway.kill()).toEqual({ code: null, signal: "SIGKILL" });
    seen.push(...(await load.stop()));
  }
  gateway = await startGateway(workspace);
  await expectTheirRows(seen, "gateway");
});

it(`${KILLS} kills of workers, and of the process that supervises them, lose no row and double none`, async () => {
  const workspace = createWorkspace({ baseUrl: upstream.baseUrl, server: `workers: ${SIZE}` });
  const calls = upstream.requests.length;
  const seen: Seen[] = [];
  await gateway.kill();
  gateway = await startGateway(workspace);
  try {
    let victim = 0;
    for (let kills = 0; kills < KILLS; kills += 1) {
      // The port is lost when no process listens any more.
      const pids = pidsOf(await waitForWorkers(gateway, [victim], 30_000));
      victim = pids[kills % pids.length] ?? 0;
      const load = startLoad(gateway, LOOPS, "gpt-4o-mini");
      await someWork(load);
      const isWhole = kills % WHOLE_EVERY === WHOLE_EVERY - 1;
      if (isWhole) await gateway.kill();
      else process.kill(victim, "SIGKILL");
      seen.push(...(await load.stop()));
      if (isWhole) gateway = await startGateway(workspace);
    }
    await expectTheirRows(seen, "workers", calls);
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  } finally {
    await gateway.kill();
    workspace.remove();
  }
});

/** Waits for some responses, and somewhere into the next ones. */
async function someWork(load: Load): Promise<void> {
  const responses = MIN_RESPONSES + Math.random() * (MAX_RESPONSES - MIN_RESPONSES);
  await eventually("some responses", () => load.count >= responses, 20_000);
  await pause(Math.random() * MAX_MORE_MS);
}

/** Holds the rows against what clients saw. `calls` are the upstream's calls from before. */
async function expectTheirRows(seen: readonly Seen[], what: string, calls = 0): Promise<void> {
  const ended = seen.filter(({ hasEnded }) => hasEnded);
  const countRows = async () => {
    const rows = await allRows();
    const counts = new Map<string, number>();
    for (const { request_id } of rows) counts.set(request_id, (counts.get(request_id) ?? 0) + 1);
    return { rows, counts, lost: ended.filter(({ requestId }) => !counts.has(requestId ?? "")) };
  };
  // Rows of a process that was killed are moved by the next one, or by its neighbour.
  const areThere = async (): Promise<boolean> => {
    const { rows, lost } = await countRows();
    return lost.length === 0 && rows.length >= upstream.requests.length - calls;
  };
  await eventually("all rows", areThere, 15_000).catch(() => undefined);
  const { rows, counts, lost } = await countRows();
  const doubled = [...counts.values()].filter((count) => count > 1);
  const cut = seen.filter(({ hasEnded, status }) => status !== undefined && !hasEnded).length;
  const streams = ended.filter(({ isStream }) => isStream).length;
  console.log(
    `kills ${KILLS} (${what}), responses seen ${ended.length} (${streams} streams), cut ${cut}, rows ${rows.length}, rows lost ${lost.length}, rows doubled ${doubled.length}`,
  );
  expect(lost).toEqual([]);
  expect(doubled).toEqual([]);
  expect(ended.every(({ status }) => status === 200)).toBe(true);
  expect(ended.length).toBeGreaterThan(KILLS * 4);
  expect(streams).toBeGreaterThan(KILLS / 2);
  // Every call that arrived has its row. One that was noted and did not arrive before the kill has
  // one too.
  const arrived = upstream.requests.length - calls;
  expect(rows.length).toBeGreaterThanOrEqual(arrived);
  expect(rows.length).toBeLessThanOrEqual(arrived + KILLS * LOOPS);
  const settled = rows.filter(({ metadata }) => metadata["interrupted"] !== true);
  expect(settled.length).toBeLessThanOrEqual(arrived);
  const finished = new Set(ended.map(({ requestId }) => requestId));
  expect(
    rows.filter(({ request_id, status }) => finished.has(request_id) && status !== "success"),
  ).toEqual([]);
}

/** Every row there is, page by page. */
async function allRows(): Promise<SpendRow[]> {
  const rows: SpendRow[] = [];
  for (;;) {
    const last = rows.at(-1);
    const page = await spendRows(gateway, {
      limit: String(PAGE),
      ...(last !== undefined && { cursor: `${last.request_id}:${last.attempt}` }),
    });
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}
