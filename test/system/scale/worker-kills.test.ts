/** A budget over kills of workers: the supervisor counts the calls that were under way. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { createKey, rowsOf, spendRows } from "../support/client.ts";
import { clusterStatus, freshChat, pidsOf, waitForWorkers } from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";
import { type GatewayProcess, startOwnProcess } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

/** Calls that the budget is for, and those that hang when both workers are killed. */
const SERVED = 10;
const HUNG = 4;

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  upstream.script("hangs", { kind: "hang" });
  const priced = (id: string): string =>
    `{ id: ${id}, targets: [{ provider: openai, model: ${id}, price: { input: 0, output: 0, request: 0.01 } }] }`;
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    server: "workers: 2",
    attempts: 1,
    models: [priced("hangs"), priced("paid")],
  });
  gateway = await startOwnProcess(workspace, await freePorts());
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

it("has what the rows of the interrupted calls have", async () => {
  const { key, token_id: id } = await createKey(gateway, { max_budget: SERVED / 100 });
  const first = await freshChat(gateway, key, "paid");
  expect(first.status).toBe(200);
  const hung = Array.from({ length: HUNG }, () => freshChat(gateway, key, "hangs"));
  const ended = Promise.allSettled(hung);
  await eventually("the calls", () => upstream.requests.length === 1 + HUNG);
  const pids = pidsOf(await clusterStatus(gateway));
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await ended;
  // Both start at once: on a busy machine each takes twice as long.
  await waitForWorkers(gateway, pids, 60_000);
  const statuses: number[] = [];
  while (statuses.length < SERVED) statuses.push((await freshChat(gateway, key, "paid")).status);
  const served = SERVED - 1 - HUNG;
  expect(statuses).toEqual(statuses.map((_, at) => (at < served ? 200 : 429)));
  await eventually("all rows", async () => {
    const rows = await spendRows(gateway, { api_key: id, limit: "100" });
    return rows.filter(({ spend }) => (spend ?? 0) > 0).length === SERVED;
  });
  expect(await rowsOf(gateway, first.id)).toHaveLength(1);
});
