/** One cluster with killed workers, a killed supervisor, and a supervisor that cannot spawn. */

import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, createKey, rowsOf } from "../support/client.ts";
import {
  createClusterWorkspace,
  clusterStatus,
  type ClusterWorkspace,
  freshChat,
  lives,
  pidsOf,
  restartWorkers,
  SIZE,
  waitForWorkers,
} from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import {
  type GatewayProcess,
  type ProcessEnvironment,
  runCommand,
  startGateway,
} from "../support/gateway-process.ts";
import { startLoad } from "../support/load.ts";
import { readMetrics } from "../support/prometheus.ts";

let upstream: Upstream;
let workspace: ClusterWorkspace;
let gateway: GatewayProcess;
/** A file with the pid of the worker that refuses the word `odd`. */
let refuser: string;
/** The folder of the Node that the gateway runs on, which is its own: a test takes it away. */
let nodeFolder: string;
let node: string;
const { execPath } = process;

beforeAll(async () => {
  nodeFolder = mkdtempSync(join(tmpdir(), "sluice-node-"));
  node = join(nodeFolder, "node");
  copyFileSync(execPath, node);
  upstream = await createUpstream();
  workspace = createClusterWorkspace(upstream.baseUrl, "reload: on_request");
  refuser = join(workspace.folder, "refuser");
  writeFileSync(refuser, "refuse");
  workspace.writeStep({
    create: `const refuser = process.getBuiltinModule("fs").readFileSync(${JSON.stringify(refuser)}, "utf8");
    if (word === "odd" && refuser === String(process.pid)) throw new Error("not in this worker");`,
  });
  gateway = await startOnOwnNode();
});
afterEach(() => upstream.script("gpt-4o", { kind: "reply" }));
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
  rmSync(nodeFolder, { recursive: true, force: true });
});

async function startOnOwnNode(environment: ProcessEnvironment = {}): Promise<GatewayProcess> {
  process.execPath = node;
  try {
    return await startGateway(workspace, environment, "info");
  } finally {
    process.execPath = execPath;
  }
}

const command = (...args: readonly string[]) =>
  runCommand(
    [...args, "--config", gateway.configPath, "--admin-url", gateway.adminUrl],
    workspace.folder,
  );

/** The cluster with a worker whose number is above the configured count. */
async function restartedOnce(): Promise<
  readonly [worker: { readonly worker: number; readonly pid: number }]
> {
  const late = async () =>
    (await waitForWorkers(gateway)).workers.filter(({ worker }) => worker > SIZE);
  const [known] = await late();
  if (known !== undefined) return [known];
  const before = pidsOf(await waitForWorkers(gateway));
  expect(await restartWorkers(gateway)).toMatchObject({ outcome: "restarted" });
  await waitForWorkers(gateway, before);
  const [worker] = await late();
  if (worker === undefined) throw new Error("No worker has a number above the configured count.");
  return [worker];
}

describe("workers of a cluster", () => {
  it("forget a deleted key before the deletion is answered", async () => {
    const { key } = await createKey(gateway, {});
    const workers = new Set<unknown>();
    await eventually("answers of both workers", async () => {
      const early = await Promise.all(Array.from({ length: 16 }, () => freshChat(gateway, key)));
      expect(new Set(early.map(({ status }) => status))).toEqual(new Set([200]));
      for (const { worker } of early) workers.add(worker);
      return workers.size === SIZE;
    });
    expect((await admin(gateway, "/key/delete", { keys: [key] })).status).toBe(200);
    const late = await Promise.all(Array.from({ length: 16 }, () => freshChat(gateway, key)));
    expect(new Set(late.map(({ status }) => status))).toEqual(new Set([401]));
  });

  it("report an edit that one accepts and another refuses", async () => {
    const before = await waitForWorkers(gateway);
    writeFileSync(refuser, String(pidsOf(before).at(-1)));
    workspace.writeWord("odd");
    const reload = command("reload");
    expect((await reload.ended).code).toBe(1);
    expect(reload.stdout).toContain("not in this worker");
    expect(reload.stdout).toMatch(/worker \d+: refused/);
    expect(reload.stdout).toMatch(/worker \d+: applied: generation \d+/);
    const split = await clusterStatus(gateway);
    expect(split.workers_agree).toBe(false);
    expect(split.last_attempt?.outcome).toBe("refused");
    const status = command("status");
    await status.ended;
    expect(status.stdout).toContain("the workers run different configurations");
    workspace.writeWord("first");
    expect((await command("reload").ended).code).toBe(0);
    // The one that had refused takes the number of the other.
    const after = await eventually("one generation", async () => {
      const now = await waitForWorkers(gateway);
      return now.workers_agree && now;
    });
    expect(after.live.digest).toBe(before.live.digest);
  });

  it("take over the rows of a killed worker, for any number", async () => {
    const [victim] = await restartedOnce();
    const ended =
      readMetrics(await (await admin(gateway, "/metrics")).text()).sum(
        "sluice_worker_ends_total",
      ) ?? 0;
    const before = await Promise.all(Array.from({ length: 16 }, () => freshChat(gateway)));
    process.kill(victim.pid, "SIGKILL");
    await waitForWorkers(gateway, [victim.pid]);
    expect(before.some(({ worker }) => worker === victim.worker)).toBe(true);
    const page = readMetrics(await (await admin(gateway, "/metrics")).text());
    expect([page.sum("sluice_workers"), page.sum("sluice_worker_ends_total")]).toEqual([
      SIZE,
      ended + 1,
    ]);
    for (const { id } of before)
      expect(await eventually("rows", () => rowsOf(gateway, id), 5_000)).toHaveLength(1);
  });

  it("release the slots of a killed worker", async () => {
    upstream.script("gpt-4o", { kind: "hang" });
    const { key } = await createKey(gateway, { max_parallel_requests: 2 });
    const held = [0, 1].map(() => freshChat(gateway, key, "gpt-4o").catch(() => undefined));
    // A look that came between the two would take the place of the second.
    await eventually(
      "both calls",
      () => upstream.requests.filter(({ finished }) => !finished).length >= 2,
    );
    await eventually("a full house", async () => (await freshChat(gateway, key)).status === 429);
    for (const pid of pidsOf(await clusterStatus(gateway))) {
      process.kill(pid, "SIGKILL");
      await waitForWorkers(gateway, [pid]);
    }
    await Promise.all(held);
    expect((await freshChat(gateway, key)).status).toBe(200);
  });
});

describe("a supervisor", () => {
  it("that is killed ends its workers, and the next one starts with the same generation", async () => {
    const pids = pidsOf(await clusterStatus(gateway));
    const { publicUrl } = gateway;
    const port = new URL(publicUrl).port;
    const load = startLoad(gateway, 4, "gpt-4o-mini");
    await eventually("load", () => load.count > 8);
    await gateway.kill();
    const seen = await load.stop();
    await eventually("the workers' end", () => !pids.some(lives));
    gateway = await startOnOwnNode({ SLUICE_PORT: port });
    expect(gateway.publicUrl).toBe(publicUrl);
    await waitForWorkers(gateway);
    const ended = seen.filter(({ hasEnded, status }) => hasEnded && status === 200);
    for (const { requestId } of ended)
      expect(await eventually("rows", () => rowsOf(gateway, requestId), 5_000)).toHaveLength(1);
  });

  it("keeps running when it cannot spawn, and respawns when it can", async () => {
    const before = pidsOf(await waitForWorkers(gateway));
    rmSync(node);
    try {
      process.kill(before[0] ?? 0, "SIGKILL");
      await eventually("the failure in the log", () =>
        gateway.stderr.includes("a worker could not be started"),
      );
      expect((await freshChat(gateway)).status).toBe(200);
      expect(await restartWorkers(gateway)).toMatchObject({ outcome: "refused", replaced: 0 });
    } finally {
      copyFileSync(execPath, node);
    }
    await waitForWorkers(gateway, before.slice(0, 1));
  });

  it("locks its data folder against a second gateway", async () => {
    await restartedOnce();
    const seconds = [["--supervised"], []].map((more) =>
      runCommand(["serve", "--config", workspace.configPath, ...more], workspace.folder),
    );
    for (const second of seconds) {
      expect((await second.ended).code).toBe(3);
      expect(second.stderr).toContain("is in use by another gateway");
    }
  });
});
