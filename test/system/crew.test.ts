/** The crew under hostile hands: crashes, signals and edits in the middle of starts and restarts. */

import { Agent, request } from "node:http";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/kit/testing";
import { admin, chat, createKey, MESSAGES, rowsOf } from "./client.ts";
import {
  childrenOf,
  createCrewWorkspace,
  crewStatus,
  type CrewWorkspace,
  lives,
  pidsOf,
  SIZE,
  wholeCrew,
} from "./crew-workspace.ts";
import { eventually } from "./eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "./gateway-process.ts";
import { startLoad } from "./load.ts";
import { readMetrics } from "./prometheus.ts";

let upstream: Upstream;
let workspace: CrewWorkspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
});
afterAll(async () => {
  await upstream?.close();
});
afterEach(async () => {
  upstream.script("gpt-4o", { kind: "reply" });
  await gateway?.dispose();
  workspace?.remove();
});

async function start(server = "", more: readonly string[] = [], environment = {}): Promise<void> {
  workspace = createCrewWorkspace(upstream.baseUrl, server);
  gateway = await startGateway(workspace, environment, "info", more);
}

const restart = async (): Promise<{ outcome: string; replaced: number; reasons: readonly string[] }> =>
  (await (await admin(gateway, "/restart", {})).json()) as { outcome: string; replaced: number; reasons: readonly string[] };

const command = (...args: readonly string[]) =>
  runCommand([...args, "--config", gateway.configPath, "--admin-url", gateway.adminUrl], workspace.folder);

/** The status of a chat request on a connection of its own, so that any worker may get it. */
function freshChat(key = gateway.masterKey, model = "gpt-4o-mini"): Promise<{ status: number; worker: number; id: string }> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = request(`${gateway.publicUrl}/v1/chat/completions`, { method: "POST", agent, headers }, (response) => {
      response.resume().on("end", () => {
        const { "x-worker": worker = "0", "x-request-id": id = "" } = response.headers;
        resolve({ status: response.statusCode ?? 0, worker: Number(worker), id: String(id) });
      });
    });
    sent.on("error", reject).end(JSON.stringify({ model, messages: MESSAGES }));
  });
}

describe("a restart", () => {
  it("that a stop meets half-way leaves no process behind", async () => {
    await start();
    const before = await crewStatus(gateway);
    const answer = admin(gateway, "/restart", {}).catch(() => undefined);
    await eventually("a third process", () => childrenOf(gateway.pid).length > SIZE);
    const pids = childrenOf(gateway.pid);
    expect(pids).toEqual(expect.arrayContaining(pidsOf(before)));
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    await answer;
    expect(pids.filter(lives)).toEqual([]);
  });

  it("during which workers crash ends with a whole crew, and no more", async () => {
    await start();
    const before = pidsOf(await crewStatus(gateway));
    const answer = restart();
    await eventually("a third process", () => childrenOf(gateway.pid).length > SIZE);
    for (const pid of before) process.kill(pid, "SIGKILL");
    expect(await answer).toMatchObject({ outcome: "restarted", replaced: SIZE });
    const after = await wholeCrew(gateway, before);
    await eventually("no process beside the crew", () => childrenOf(gateway.pid).length === SIZE);
    expect(after.workers_agree).toBe(true);
    expect(new Set(childrenOf(gateway.pid))).toEqual(new Set(pidsOf(after)));
  });

  it("that is asked for during another follows it, and so do edits", async () => {
    await start();
    const before = pidsOf(await crewStatus(gateway));
    const first = restart();
    await eventually("a third process", () => childrenOf(gateway.pid).length > SIZE);
    workspace.writeStep({ run: 'exchange.headers.set("x-late", "yes");' });
    const reload = admin(gateway, "/config/reload", {});
    const [second, third] = [restart(), restart()];
    const outcomes = (await Promise.all([first, second, third])).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["restarted", "restarted", "restarted"]);
    expect((await reload).status).toBe(200);
    const after = await wholeCrew(gateway, before);
    expect(after.waiting_for_restart).toEqual([]);
    expect(after.workers_agree).toBe(true);
    const said = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
    expect(said.headers.get("x-late")).toBe("yes");
  });

  it("is refused for what only a stop and a start can change, and leaves no trace", async () => {
    await start();
    const before = await crewStatus(gateway);
    const text = workspace.config({ baseUrl: upstream.baseUrl, server: "workers: 3, admin: { port: 0, host: 127.0.0.2 }" });
    workspace.write(text.replace("plugins:\n", 'plugins:\n  - "../my-plugins/says.ts"\n'));
    const refused = await restart();
    expect(refused).toMatchObject({ outcome: "refused", replaced: 0 });
    expect(refused.reasons.join("\n")).toContain("server.workers and server.admin cannot change while the workers are replaced");
    process.kill(pidsOf(before)[0] ?? 0, "SIGKILL");
    const after = await wholeCrew(gateway, pidsOf(before).slice(0, 1));
    expect(after.workers.map(({ generation }) => generation)).toEqual([before.live.generation, before.live.generation]);
    expect(after.workers_agree).toBe(true);
  });
});

describe("a start", () => {
  it("misses no edit that is saved meanwhile", async () => {
    workspace = createCrewWorkspace(upstream.baseUrl);
    const marker = join(workspace.folder, "in-the-middle");
    const slow = `if (!globalThis.hasWaited) {
      globalThis.hasWaited = true;
      process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(marker)}, "");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
    }`;
    workspace.writeStep({ create: slow });
    const starting = startGateway(workspace);
    // The first worker has read the files and stands still for a moment.
    await eventually("the middle of the start", () => existsSync(marker), 20_000);
    workspace.writeWord("second");
    gateway = await starting;
    expect(childrenOf(gateway.pid)).toHaveLength(SIZE);
    await eventually("the edit", async () => (await wholeCrew(gateway)).workers_agree);
    const said = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
    expect(said.headers.get("x-said")).toBe("second");
  });
});

describe("a worker that stands still", () => {
  it("hides no other, and is killed when it does not end", async () => {
    await start("drain_timeout: 1s");
    workspace.writeStep({ run: 'if (exchange.request.model === "openai/still") for (;;);' });
    expect(await restart()).toMatchObject({ outcome: "restarted" });
    const before = await wholeCrew(gateway);
    const lost = chat(gateway, { model: "openai/still", messages: MESSAGES }).catch(() => "cut");
    const seen = await eventually(
      "a status without it",
      async () => {
        const now = await crewStatus(gateway);
        return now.workers.length === SIZE - 1 && now;
      },
      20_000,
    );
    const still = before.workers.filter(({ pid }) => !pidsOf(seen).includes(pid)).map(({ pid }) => pid);
    expect((await admin(gateway, "/metrics")).status).toBe(200);
    expect((await admin(gateway, "/key/list")).status).toBe(200);
    expect(await restart()).toMatchObject({ outcome: "restarted", replaced: SIZE });
    await eventually("its end", () => !still.some(lives), 30_000);
    expect(await lost).toBe("cut");
    expect(gateway.stderr).toContain("a worker did not end by itself and is killed");
    await wholeCrew(gateway, pidsOf(before));
  });
});

describe("a supervising process", () => {
  it("that is killed takes its workers along, and the next one starts where it was", async () => {
    await start();
    const pids = pidsOf(await crewStatus(gateway));
    const { publicUrl } = gateway;
    const port = new URL(publicUrl).port;
    const load = startLoad(gateway, 4, "gpt-4o-mini");
    await eventually("load", () => load.count > 8);
    await gateway.kill();
    const seen = await load.stop();
    await eventually("the workers' end", () => !pids.some(lives));
    gateway = await startGateway(workspace, { SLUICE_PORT: port });
    expect(gateway.publicUrl).toBe(publicUrl);
    await wholeCrew(gateway);
    const ended = seen.filter(({ hasEnded, status }) => hasEnded && status === 200);
    for (const { requestId } of ended) expect(await eventually("rows", () => rowsOf(gateway, requestId), 5_000)).toHaveLength(1);
  });

  it("goes on when no process can be started, and mends when one can", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-node-"));
    const own = join(folder, "node");
    const { execPath } = process;
    copyFileSync(execPath, own);
    try {
      process.execPath = own;
      await start();
      process.execPath = execPath;
      const before = pidsOf(await crewStatus(gateway));
      rmSync(own);
      process.kill(before[0] ?? 0, "SIGKILL");
      await eventually("the failure in the log", () => gateway.stderr.includes("a worker could not be started"));
      expect((await freshChat()).status).toBe(200);
      expect(await restart()).toMatchObject({ outcome: "refused", replaced: 0 });
      copyFileSync(execPath, own);
      await wholeCrew(gateway, before.slice(0, 1));
    } finally {
      process.execPath = execPath;
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("keeps its data folder from a second gateway, whatever its workers' numbers", async () => {
    await start();
    expect(await restart()).toMatchObject({ outcome: "restarted" });
    for (const more of [["--supervised"], []]) {
      const second = runCommand(["serve", "--config", workspace.configPath, ...more], workspace.folder);
      expect((await second.ended).code).toBe(3);
      expect(second.stderr).toContain("is in use by another gateway");
    }
  });

  it("that is a single process says so to who wants it restarted, and lives", async () => {
    gateway = await startGateway({ baseUrl: upstream.baseUrl });
    gateway.signal("SIGUSR2");
    await eventually("the sentence", () => gateway.stderr.includes("This gateway is a single process"));
    expect((await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES })).status).toBe(200);
  });
});

describe("workers", () => {
  it("take over the rows of one that was killed, whatever its number", async () => {
    await start();
    await restart();
    const { workers } = await wholeCrew(gateway);
    const [victim] = workers;
    expect(victim?.worker).toBeGreaterThan(SIZE);
    const before = await Promise.all(Array.from({ length: 16 }, () => freshChat()));
    process.kill(victim?.pid ?? 0, "SIGKILL");
    await wholeCrew(gateway, [victim?.pid ?? 0]);
    expect(before.some(({ worker }) => worker === victim?.worker)).toBe(true);
    const page = readMetrics(await (await admin(gateway, "/metrics")).text());
    expect([page.sum("sluice_workers"), page.sum("sluice_worker_ends_total")]).toEqual([SIZE, 1]);
    for (const { id } of before) expect(await eventually("rows", () => rowsOf(gateway, id), 5_000)).toHaveLength(1);
  });

  it("give back the slots of one that was killed", async () => {
    await start();
    upstream.script("gpt-4o", { kind: "hang" });
    const { key } = await createKey(gateway, { max_parallel_requests: 2 });
    const held = [0, 1].map(() => freshChat(key, "gpt-4o").catch(() => undefined));
    await eventually("a full house", async () => (await freshChat(key)).status === 429);
    for (const pid of pidsOf(await crewStatus(gateway))) {
      process.kill(pid, "SIGKILL");
      await wholeCrew(gateway, [pid]);
    }
    await Promise.all(held);
    expect((await freshChat(key)).status).toBe(200);
  });

  it("forget a deleted key before the deletion is answered", async () => {
    await start();
    const { key } = await createKey(gateway, {});
    const early = await Promise.all(Array.from({ length: 16 }, () => freshChat(key)));
    expect(new Set(early.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(early.map(({ worker }) => worker)).size).toBe(SIZE);
    expect((await admin(gateway, "/key/delete", { keys: [key] })).status).toBe(200);
    const late = await Promise.all(Array.from({ length: 16 }, () => freshChat(key)));
    expect(new Set(late.map(({ status }) => status))).toEqual(new Set([401]));
  });

  it("say so when one takes an edit that another refuses", async () => {
    await start("reload: on_request");
    workspace.writeStep({ create: 'if (word === "odd" && number % 2 === 0) throw new Error("not in this worker");' });
    expect(await restart()).toMatchObject({ outcome: "restarted" });
    const before = await wholeCrew(gateway);
    workspace.writeWord("odd");
    const reload = command("reload");
    expect((await reload.ended).code).toBe(1);
    expect(reload.stdout).toContain("not in this worker");
    expect(reload.stdout).toMatch(/worker \d+: refused/);
    expect(reload.stdout).toMatch(/worker \d+: applied: generation \d+/);
    const split = await crewStatus(gateway);
    expect(split.workers_agree).toBe(false);
    expect(split.last_attempt.outcome).toBe("refused");
    const status = command("status");
    await status.ended;
    expect(status.stdout).toContain("the workers run different configurations");
    workspace.writeWord("first");
    expect((await command("reload").ended).code).toBe(0);
    const after = await wholeCrew(gateway);
    expect(after.workers_agree).toBe(true);
    expect(after.live.digest).toBe(before.live.digest);
  });
});
