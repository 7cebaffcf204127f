/** Restarts of one crew, with crashes, edits and a stop in the middle of them. */

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES } from "../support/client.ts";
import {
  childrenOf,
  createCrewWorkspace,
  type CrewWorkspace,
  lives,
  pidsOf,
  restartCrew,
  SIZE,
  wholeCrew,
} from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let upstream: Upstream;
let workspace: CrewWorkspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createCrewWorkspace(upstream.baseUrl);
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** The workers' pids, once nobody is on his way out. */
async function settledPids(): Promise<number[]> {
  const pids = pidsOf(await wholeCrew(gateway));
  await eventually("no process beside the crew", () => childrenOf(gateway.pid).length === SIZE);
  return pids;
}

describe("a restart", () => {
  it("that is asked for during another follows it, and so do edits", async () => {
    const before = await settledPids();
    const first = restartCrew(gateway);
    await eventually("a third process", () => childrenOf(gateway.pid).length > SIZE);
    workspace.writeStep({ run: 'exchange.headers.set("x-late", "yes");' });
    const reload = admin(gateway, "/config/reload", {});
    const [second, third] = [restartCrew(gateway), restartCrew(gateway)];
    const outcomes = (await Promise.all([first, second, third])).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["restarted", "restarted", "restarted"]);
    const reloaded = await reload;
    expect({ status: reloaded.status, text: await reloaded.text() }).toMatchObject({ status: 200 });
    const after = await wholeCrew(gateway, before);
    expect(after.waiting_for_restart).toEqual([]);
    expect(after.workers_agree).toBe(true);
    const said = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
    expect(said.headers.get("x-late")).toBe("yes");
  });

  it("is refused for what only a stop and a start can change, and leaves no trace", async () => {
    const files = readFileSync(workspace.configPath, "utf8");
    const before = await wholeCrew(gateway);
    const text = workspace.config({ baseUrl: upstream.baseUrl, server: "workers: 3, admin: { port: 0, host: 127.0.0.2 }" });
    workspace.write(text.replace("plugins:\n", 'plugins:\n  - "../my-plugins/says.ts"\n'));
    const refused = await restartCrew(gateway);
    expect(refused).toMatchObject({ outcome: "refused", replaced: 0 });
    expect(refused.reasons.join("\n")).toContain("server.workers and server.admin cannot change while the workers are replaced");
    process.kill(pidsOf(before)[0] ?? 0, "SIGKILL");
    const after = await wholeCrew(gateway, pidsOf(before).slice(0, 1));
    expect(after.workers.map(({ generation }) => generation)).toEqual([before.live.generation, before.live.generation]);
    expect(after.workers_agree).toBe(true);
    workspace.write(files);
  });

  it("during which workers crash ends with a whole crew, and no more", async () => {
    const before = await settledPids();
    const answer = restartCrew(gateway);
    await eventually("a third process", () => childrenOf(gateway.pid).length > SIZE);
    for (const pid of before) process.kill(pid, "SIGKILL");
    expect(await answer).toMatchObject({ outcome: "restarted", replaced: SIZE });
    const after = await wholeCrew(gateway, before);
    await eventually("no process beside the crew", () => childrenOf(gateway.pid).length === SIZE);
    expect(after.workers_agree).toBe(true);
    expect(new Set(childrenOf(gateway.pid))).toEqual(new Set(pidsOf(after)));
  });

  it("that a stop meets half-way leaves no process behind", async () => {
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
