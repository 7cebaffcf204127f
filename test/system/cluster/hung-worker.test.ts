/**
 * A hung worker, and edits and stops during a start. The tests run side by side: most of their time
 * is waiting.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES } from "../support/client.ts";
import {
  childrenOf,
  createClusterWorkspace,
  clusterStatus,
  freshChat,
  lives,
  pidsOf,
  SIZE,
  waitForWorkers,
} from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import { runCommand, startGateway } from "../support/gateway-process.ts";
import { readMetrics } from "../support/prometheus.ts";

let upstream: Upstream;

beforeAll(async () => {
  upstream = await createUpstream();
});
afterAll(() => upstream?.close());

/**
 * Code that keeps the event loop from coming round, for good or so long, and the processor free for
 * others.
 */
const standStill = (forMs = "Infinity"): string =>
  `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${forMs});`;

describe.concurrent("a cluster", () => {
  it("names a hung worker and the code that blocks it, serves with the others, and replaces it", async () => {
    const workspace = createClusterWorkspace(
      upstream.baseUrl,
      "hung_worker_timeout: 7s, drain_timeout: 1s",
    );
    workspace.writeStep({ run: `if (exchange.request.model === "openai/still") ${standStill()}` });
    const gateway = await startGateway(workspace);
    const command = (name: string) =>
      runCommand(
        [name, "--config", gateway.configPath, "--admin-url", gateway.adminUrl],
        workspace.folder,
      );
    const hang = () => freshChat(gateway, gateway.masterKey, "openai/still").catch(() => "cut");
    try {
      const before = await waitForWorkers(gateway);
      const lost = hang();
      const { workers } = await eventually(
        "a status that names it",
        async () => {
          const now = await clusterStatus(gateway);
          return now.workers.some(({ answers }) => !answers) && now;
        },
        20_000,
      );
      const [still] = workers.filter(({ answers }) => !answers);
      expect(workers).toHaveLength(SIZE);
      const looks = await Promise.all(
        ["/metrics", "/key/list"].map((path) => admin(gateway, path)),
      );
      expect(looks.map(({ status }) => status)).toEqual([200, 200]);
      await eventually("its end", () => !lives(still?.pid ?? 0), 20_000);
      expect(await lost).toBe("cut");
      const line =
        gateway.stderr.split("\n").find((text) => text.includes("it is ended and replaced")) ??
        "{}";
      expect(JSON.parse(line)).toMatchObject({
        worker: still?.worker,
        pid: still?.pid,
        plugin: "says",
      });
      expect(line).toMatch(/"at":"run \(file:[^)]*says\.ts:\d+\)"/);
      const blocked =
        gateway.stderr.split("\n").find((text) => text.includes('"the event loop is blocked"')) ??
        "{}";
      expect(JSON.parse(blocked)).toMatchObject({ worker: still?.worker, plugin: "says" });
      await waitForWorkers(gateway, [still?.pid ?? 0]);
      const page = readMetrics(await (await admin(gateway, "/metrics")).text());
      expect(page.sum("sluice_worker_hung_total")).toBe(1);

      const second = pidsOf(await waitForWorkers(gateway));
      const more: Promise<unknown>[] = [];
      const silent = await eventually(
        "a status without an answer",
        async () => {
          more.push(hang());
          const now = await clusterStatus(gateway);
          return now.workers.length === SIZE && now.workers.every(({ answers }) => !answers) && now;
        },
        30_000,
      );
      expect(silent).toMatchObject({ live: null, waiting_for_restart: [] });
      const [restart, status] = [command("restart"), command("status")];
      expect(
        (await admin(gateway, "/config/status", undefined, "sk-wrong-key-000000000000000")).status,
      ).toBe(401);
      expect((await status.ended).code).toBe(0);
      expect(await restart.ended).toEqual({ code: 0, signal: null });
      expect(restart.stdout).toBe("restarted: 2 of 2 workers replaced\n");
      await eventually("their end", () => ![...second, ...pidsOf(before)].some(lives), 30_000);
      await Promise.all(more);
    } finally {
      await gateway.dispose();
    }
  });

  it("applies an edit that is saved while it starts", async () => {
    const workspace = createClusterWorkspace(upstream.baseUrl);
    const marker = join(workspace.folder, "in-the-middle");
    const slow = `if (!globalThis.hasWaited) {
      globalThis.hasWaited = true;
      process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(marker)}, "");
      ${standStill("700")}
    }`;
    workspace.writeStep({ create: slow });
    const starting = startGateway(workspace);
    // The first worker has read the files and is blocked for a moment.
    await eventually("the middle of the start", () => existsSync(marker), 60_000);
    workspace.writeWord("second");
    const gateway = await starting;
    try {
      expect(childrenOf(gateway.pid)).toHaveLength(SIZE);
      await eventually("the edit", async () => {
        const said = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
        return (
          (await waitForWorkers(gateway)).workers_agree && said.headers.get("x-said") === "second"
        );
      });
    } finally {
      await gateway.dispose();
    }
  });

  it("ends a blocked worker whose supervisor was killed", async () => {
    const workspace = createClusterWorkspace(upstream.baseUrl, "hung_worker_timeout: 60s");
    workspace.writeStep({ run: `if (exchange.request.model === "openai/still") ${standStill()}` });
    const gateway = await startGateway(workspace);
    try {
      const workers = pidsOf(await waitForWorkers(gateway));
      const lost = freshChat(gateway, gateway.masterKey, "openai/still").catch(() => "cut");
      await eventually(
        "a blocked worker",
        async () => (await clusterStatus(gateway)).workers.some(({ answers }) => !answers),
        20_000,
      );
      await gateway.kill();
      await eventually("the end of all workers", () => !workers.some(lives), 20_000);
      expect(await lost).toBe("cut");
    } finally {
      await gateway.dispose();
    }
  });

  it("of a single process refuses a restart, and keeps running", async () => {
    const gateway = await startGateway({ baseUrl: upstream.baseUrl });
    try {
      gateway.signal("SIGUSR2");
      await eventually("the sentence", () =>
        gateway.stderr.includes("This gateway is a single process"),
      );
      expect((await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES })).status).toBe(200);
    } finally {
      await gateway.dispose();
    }
  });
});
