/** Restarts of one cluster, with crashes, edits and a stop during them. */

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES } from "../support/client.ts";
import {
  childrenOf,
  createClusterWorkspace,
  type ClusterWorkspace,
  lives,
  pidsOf,
  restartWorkers,
  SIZE,
  waitForWorkers,
} from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let upstream: Upstream;
let workspace: ClusterWorkspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createClusterWorkspace(upstream.baseUrl);
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** The workers' pids, once no worker is exiting. */
async function settledPids(): Promise<number[]> {
  const pids = pidsOf(await waitForWorkers(gateway));
  await eventually("no process beside the workers", () => childrenOf(gateway.pid).length === SIZE);
  return pids;
}

describe("a restart", () => {
  it("that is requested during another runs after it, and so do edits", async () => {
    const before = await settledPids();
    const first = restartWorkers(gateway);
    await eventually("a third process", () => childrenOf(gateway.pid).length > SIZE);
    workspace.writeStep({ run: 'exchange.headers.set("x-late", "yes");' });
    const reload = admin(gateway, "/config/reload", {});
    const [second, third] = [restartWorkers(gateway), restartWorkers(gateway)];
    const outcomes = (await Promise.all([first, second, third])).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["restarted", "restarted", "restarted"]);
    const reloaded = await reload;
    expect({ status: reloaded.status, text: await reloaded.text() }).toMatchObject({ status: 200 });
    const after = await waitForWorkers(gateway, before);
    expect(after.waiting_for_restart).toEqual([]);
    expect(after.workers_agree).toBe(true);
    const said = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
    expect(said.headers.get("x-late")).toBe("yes");
  });

  it("is refused for settings that need a stop and a start, and changes nothing", async () => {
    const files = readFileSync(workspace.configPath, "utf8");
    const before = await waitForWorkers(gateway);
    const text = workspace.config({
      baseUrl: upstream.baseUrl,
      server: "workers: 3, admin: { port: 0, host: 127.0.0.2 }",
    });
    workspace.write(text.replace("plugins:\n", 'plugins:\n  - "../my-plugins/says.ts"\n'));
    const refused = await restartWorkers(gateway);
    expect(refused).toMatchObject({ outcome: "refused", replaced: 0 });
    expect(refused.reasons.join("\n")).toContain(
      "server.workers and server.admin cannot change while the workers are replaced",
    );
    process.kill(pidsOf(before)[0] ?? 0, "SIGKILL");
    const after = await waitForWorkers(gateway, pidsOf(before).slice(0, 1));
    expect(after.workers.map(({ generation }) => generation)).toEqual([
      before.live.generation,
      before.live.generation,
    ]);
    expect(after.workers_agree).toBe(true);
    workspace.write(files);
  });

  it("during which workers crash ends with the configured number of workers", async () => {
    const before = await settledPids();
    const answer = restartWorkers(gateway);
    await eventually("a third process", () => childrenOf(gateway.pid).length > SIZE);
    for (const pid of before) process.kill(pid, "SIGKILL");
    expect(await answer).toMatchObject({ outcome: "restarted", replaced: SIZE });
    const after = await waitForWorkers(gateway, before);
    await eventually(
      "no process beside the workers",
      () => childrenOf(gateway.pid).length === SIZE,
    );
    expect(after.workers_agree).toBe(true);
    expect(new Set(childrenOf(gateway.pid))).toEqual(new Set(pidsOf(after)));
  });

  it("that a stop interrupts leaves no process behind", async () => {
    const before = await settledPids();
    const answer = admin(gateway, "/restart", {}).catch(() => undefined);
    await eventually("a third process", () => childrenOf(gateway.pid).length > SIZE);
    const pids = childrenOf(gateway.pid);
    expect(pids).toEqual(expect.arrayContaining(before));
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    await answer;
    expect(pids.filter(lives)).toEqual([]);
  });
});
