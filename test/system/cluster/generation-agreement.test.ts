/**
 * All workers run one generation: whatever crashes around an edit, it is live in every worker or
 * reported.
 */

import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, configPost } from "../support/client.ts";
import {
  createClusterWorkspace,
  clusterStatus,
  type ClusterStatus,
  type ClusterWorkspace,
  pidsOf,
  restartWorkers,
  SIZE,
  waitForWorkers,
} from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";

const DEADLINE_MS = 30_000;

let upstream: Upstream;

beforeAll(async () => {
  upstream = await createUpstream();
});
afterAll(() => upstream?.close());

interface FullStatus extends ClusterStatus {
  readonly drift: { readonly files_differ: boolean };
  readonly canary: object | null;
}

/**
 * Waits until every worker is up, none has one of these pids, and all run one number and one
 * digest.
 */
function agreed(
  gateway: GatewayProcess,
  without: readonly number[],
  holds: (status: FullStatus) => boolean = () => true,
): Promise<FullStatus> {
  return eventually(
    "one generation in all workers",
    async () => {
      const now = (await clusterStatus(gateway)) as FullStatus;
      const runs = new Set(now.workers.map(({ generation, digest }) => `${generation} ${digest}`));
      const isWhole =
        now.workers.length === SIZE &&
        now.workers.every(({ pid, answers }) => answers && !without.includes(pid));
      return isWhole && runs.size === 1 && now.workers_agree && holds(now) && now;
    },
    DEADLINE_MS,
  );
}

function kill(pids: readonly number[]): void {
  for (const pid of pids) process.kill(pid, "SIGKILL");
}

type Act = (pids: readonly number[], save: () => void) => void;

/** Each case starts several processes: most of them are left to the proof. */
const isFull = process.env["SLUICE_PROOF"] === "full";
const FURTHER: readonly [string, Act][] = [
  ["one right before the save", ([first = 0], save) => (kill([first]), save())],
  ["both right after the save", (pids, save) => (save(), kill(pids))],
];

describe("a cluster whose workers are killed around an edit", () => {
  let workspace: ClusterWorkspace;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    workspace = createClusterWorkspace(upstream.baseUrl);
    // A port of the system's choice goes with the last worker.
    gateway = await startGateway(workspace, await freePorts());
  });
  afterAll(() => gateway?.dispose());

  it.each<[string, Act]>([
    ...(isFull ? FURTHER : []),
    ["one right after the save", ([first = 0], save) => (save(), kill([first]))],
    ["both right before the save", (pids, save) => (kill(pids), save())],
  ])("runs the edit in every worker: %s", async (name, act) => {
    const pids = pidsOf(await waitForWorkers(gateway));
    const word = name.replaceAll(" ", "-");
    act(pids, () => workspace.writeWord(word));
    // A kill may come so late that the worker of the test was replaced; the edit is live all the
    // same.
    await agreed(gateway, [], ({ drift }) => !drift.files_differ);
    const said = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "gpt-4o-mini",
        messages: [{ role: "user", content: "Hello" }],
      }),
    });
    expect(said.headers.get("x-said")).toBe(word);
  });

  it.runIf(isFull)(
    "keeps the running generation when the edit is refused, and reports the edit",
    async () => {
      const before = await agreed(gateway, []);
      kill(pidsOf(before));
      workspace.writeWord("[not, a, word]");
      const after = await agreed(
        gateway,
        pidsOf(before),
        ({ last_attempt: last }) => last?.outcome === "refused",
      );
      expect(after.live).toMatchObject({
        digest: before.live.digest,
        generation: before.live.generation,
      });
      expect(after.drift.files_differ).toBe(true);
      workspace.writeWord("mended");
      await agreed(gateway, [], ({ drift }) => !drift.files_differ);
    },
  );

  it("keeps a rollback, also in a replaced worker", async () => {
    const before = await agreed(gateway, []);
    workspace.writeWord("to-be-left");
    await agreed(gateway, [], ({ live }) => live.digest !== before.live.digest);
    expect(await configPost(gateway, "rollback")).toMatchObject({ outcome: "applied" });
    const back = await agreed(gateway, [], ({ live }) => live.digest === before.live.digest);
    for (const pids of [pidsOf(back).slice(0, 1), ...(isFull ? [pidsOf(back)] : [])]) {
      const alive = pidsOf(await waitForWorkers(gateway)).filter((pid) => pids.includes(pid));
      kill(alive);
      const after = await agreed(gateway, alive);
      expect(after.live).toMatchObject({
        digest: before.live.digest,
        generation: back.live.generation,
      });
      expect(after.drift.files_differ).toBe(true);
    }
  });
});

describe("a cluster with reload: on_request", () => {
  let workspace: ClusterWorkspace;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    workspace = createClusterWorkspace(upstream.baseUrl, "reload: on_request");
    gateway = await startGateway(workspace);
  });
  afterAll(() => gateway?.dispose());

  const canary = () => admin(gateway, "/config/reload", { canary: { share: "50%", for: "10m" } });

  it("(item 6) runs one generation after an aborted canary, a restart and a crash", async () => {
    const first = await agreed(gateway, []);
    workspace.writeWord("tried");
    expect(await (await canary()).json()).toMatchObject({ outcome: "canary" });
    expect((await admin(gateway, "/config/canary/abort", {})).status).toBe(200);
    const [victim = 0] = pidsOf(await agreed(gateway, []));
    kill([victim]);
    // The aborted contents are in the files, and stay there.
    const same = await agreed(gateway, [victim]);
    expect(same.live).toMatchObject({
      generation: first.live.generation,
      digest: first.live.digest,
    });
    expect(await restartWorkers(gateway)).toMatchObject({ outcome: "restarted" });
    const restarted = await agreed(gateway, pidsOf(same), ({ drift }) => !drift.files_differ);
    expect(restarted.live.generation).toBeGreaterThan(first.live.generation + 1);
    const [next = 0] = pidsOf(restarted);
    kill([next]);
    const after = await agreed(gateway, [next]);
    expect(after.live).toMatchObject({
      generation: restarted.live.generation,
      digest: restarted.live.digest,
    });
    expect(after.drift.files_differ).toBe(false);
  });

  it("promotes a canary also in a worker that was replaced while it ran", async () => {
    const before = await agreed(gateway, []);
    workspace.writeWord("promoted");
    expect(await (await canary()).json()).toMatchObject({ outcome: "canary" });
    const [victim = 0] = pidsOf(before);
    kill([victim]);
    const during = await agreed(gateway, [victim]);
    expect(during.live.generation).toBe(before.live.generation);
    const status = runCommand(
      ["status", "--config", gateway.configPath, "--admin-url", gateway.adminUrl],
      workspace.folder,
    );
    await status.ended;
    expect(status.stdout).toMatch(/worker \d+ \(pid \d+\): .*, without the canary/);
    expect((await admin(gateway, "/config/canary/promote", {})).status).toBe(200);
    await agreed(
      gateway,
      [victim],
      ({ live, drift }) => live.digest !== before.live.digest && !drift.files_differ,
    );
  });

  it.runIf(isFull)(
    "keeps an edit that was not requested out of a replaced worker, and reports it",
    async () => {
      const before = await agreed(gateway, []);
      workspace.writeWord("not-asked-for");
      kill(pidsOf(before));
      const after = await agreed(gateway, pidsOf(before));
      expect(after.live).toMatchObject({
        generation: before.live.generation,
        digest: before.live.digest,
      });
      expect(after.drift.files_differ).toBe(true);
      expect(await (await admin(gateway, "/config/reload", {})).json()).toMatchObject({
        outcome: "applied",
      });
      await agreed(gateway, [], ({ drift }) => !drift.files_differ);
    },
  );

  it.runIf(isFull)("starts with the same generation after the supervisor was killed", async () => {
    const before = await agreed(gateway, []);
    await gateway.kill();
    gateway = await startGateway(workspace);
    const after = await agreed(gateway, pidsOf(before));
    expect(after.live).toMatchObject({
      generation: before.live.generation,
      digest: before.live.digest,
    });
  });

  it("names the worker that cannot run the others' generation, and the reason", async () => {
    const before = await agreed(gateway, []);
    const refuser = `${workspace.folder}/refuser`;
    writeFileSync(refuser, "refuse");
    workspace.writeStep({
      create: `const refuser = process.getBuiltinModule("fs").readFileSync(${JSON.stringify(refuser)}, "utf8");
      if (word === "odd" && refuser === String(process.pid)) throw new Error("not in this worker");`,
    });
    expect(await restartWorkers(gateway)).toMatchObject({ outcome: "restarted" });
    const cluster = await agreed(gateway, pidsOf(before));
    const odd = pidsOf(cluster).at(-1);
    writeFileSync(refuser, String(odd));
    workspace.writeWord("odd");
    await admin(gateway, "/config/reload", {});
    const split = await eventually(
      "the reason",
      async () =>
        (await clusterStatus(gateway)).workers.find(({ differs }) => (differs ?? null) !== null),
      DEADLINE_MS,
    );
    expect(split).toMatchObject({
      pid: odd,
      differs: expect.stringContaining("not in this worker") as string,
    });
    // What cannot run in this process may run in another.
    kill([odd ?? 0]);
    await agreed(gateway, [odd ?? 0], ({ drift }) => !drift.files_differ);
  });
});
