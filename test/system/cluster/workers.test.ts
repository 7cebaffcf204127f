/**
 * Several worker processes: they are one gateway for clients and operators, mended when they crash,
 * replaced under load.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { startLoad } from "../support/load.ts";
import { readMetrics } from "../support/prometheus.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const SIZE = 2;

interface Status {
  readonly live: { readonly generation: number; readonly digest: string };
  readonly waiting_for_restart: readonly string[];
  readonly workers_agree: boolean;
  readonly workers: readonly {
    readonly worker: number;
    readonly pid: number;
    readonly answers: boolean;
    readonly generation: number;
  }[];
}

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;
let pluginFile: string;

const stepSaying = (word: string): string => `
import { defineStep } from "@sluice/kit";
import "./imported.ts";
export default defineStep({
  name: "says", stability: "experimental", summary: "Says a word.", config: { type: "object", properties: {} },
  operations: ["chat"],
  create: () => ({ async run({ exchange }, next) { exchange.headers.set("x-said", "${word}"); await next(); } }),
});
`;

beforeAll(async () => {
  upstream = await createUpstream();
  upstream.script({ kind: "reply", delayMs: 5, eventDelayMs: 5 });
  workspace = createWorkspace({ baseUrl: upstream.baseUrl, server: `workers: ${SIZE}` });
  mkdirSync(join(workspace.folder, "my-plugins"));
  pluginFile = join(workspace.folder, "my-plugins/says.ts");
  writeFileSync(pluginFile, stepSaying("first"));
  writeFileSync(join(workspace.folder, "my-plugins/imported.ts"), "export {};");
  const text = workspace.config({ baseUrl: upstream.baseUrl, server: `workers: ${SIZE}` });
  workspace.write(text.replace("plugins:\n", 'plugins:\n  - "../my-plugins/says.ts"\n'));
  const chatFile = join(workspace.pipelinesFolder, "chat.yaml");
  writeFileSync(
    chatFile,
    readFileSync(chatFile, "utf8").replace(/^( +)- auth\b.*$/m, "$&\n$1- says"),
  );
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.stop();
  await gateway?.dispose();
  await upstream?.close();
});

async function status(): Promise<Status> {
  return (await (await admin(gateway, "/config/status")).json()) as Status;
}

/** The status, once so many workers serve and none of them is one of these. */
function statusWithout(pids: readonly number[]): Promise<Status> {
  return eventually(
    "other workers",
    async () => {
      const now = await status();
      return (
        now.workers.length === SIZE &&
        now.workers.every(({ pid, answers }) => answers && !pids.includes(pid)) &&
        now
      );
    },
    15_000,
  );
}

/** One chat request, whole. */
function chatOnce(key = gateway.masterKey): Promise<Response> {
  return chat(
    gateway,
    { model: "gpt-4o-mini", messages: MESSAGES },
    { headers: { authorization: `Bearer ${key}` } },
  );
}

describe("workers", () => {
  it("run one generation and are one gateway for administration", async () => {
    const { workers, workers_agree: agree, live } = await status();
    expect(workers.map(({ worker, generation }) => [worker, generation])).toEqual([
      [1, live.generation],
      [2, live.generation],
    ]);
    expect(agree).toBe(true);
    expect(
      (await admin(gateway, "/config/status", undefined, "sk-wrong-key-000000000000000")).status,
    ).toBe(401);
    const replies = await Promise.all(Array.from({ length: 12 }, () => chatOnce()));
    expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 200));
    for (const reply of replies) {
      await reply.text();
      const id = reply.headers.get("x-request-id") ?? "";
      expect(await rowsOf(gateway, id)).toHaveLength(1);
      const explained = await eventually("the record", async () => {
        const found = (await (await admin(gateway, `/requests/${id}`)).json()) as {
          source?: string;
          steps: unknown[] | null;
        };
        return found.steps !== null && found;
      });
      expect(explained.steps?.length).toBeGreaterThan(3);
    }
    const page = readMetrics(await (await admin(gateway, "/metrics")).text());
    const requests = (worker: string) =>
      page.sum("sluice_requests_total", { worker, model: "gpt-4o-mini" }) ?? 0;
    expect(requests("1") + requests("2")).toBe(12);
    const { deployments } = (await (await admin(gateway, "/deployments")).json()) as {
      deployments: { deployment: string; attempts: { total: number } }[];
    };
    expect(
      deployments.find(({ deployment }) => deployment === "openai/gpt-4o-mini")?.attempts.total,
    ).toBe(12);
  });

  it("share limits in memory to the last request", async () => {
    const { key } = await createKey(gateway, { rpm_limit: 5 });
    // Another worker sees a new key within a second.
    await eventually("both workers to know the key", async () => {
      const answers = await Promise.all(
        Array.from({ length: 4 }, () =>
          fetch(`${gateway.publicUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } }),
        ),
      );
      return answers.every((answer) => answer.status === 200);
    });
    const replies = await Promise.all(Array.from({ length: 12 }, () => chatOnce(key)));
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(5);
    expect(replies.filter((reply) => reply.status === 429)).toHaveLength(7);
  });

  it("apply an edit under one number, by the files and by a rollback", async () => {
    const before = await status();
    const chatFile = join(workspace.pipelinesFolder, "chat.yaml");
    writeFileSync(chatFile, `${readFileSync(chatFile, "utf8")}\n# edited\n`);
    const agreed = (than: number): Promise<Status> =>
      eventually("all workers on one newer generation", async () => {
        const now = await status();
        const numbers = new Set(now.workers.map(({ generation }) => generation));
        return numbers.size === 1 && now.workers_agree && now.live.generation > than && now;
      });
    const edited = await agreed(before.live.generation);
    expect(edited.live.generation).toBe(before.live.generation + 1);
    const rolled = await runCommand(
      ["rollback", "--config", gateway.configPath, "--admin-url", gateway.adminUrl],
      workspace.folder,
    ).ended;
    expect(rolled.code).toBe(0);
    const back = await agreed(edited.live.generation);
    expect(back.live.digest).toBe(before.live.digest);
    expect((await admin(gateway, "/config/reload", {})).status).toBe(200);
    expect((await agreed(back.live.generation)).live.digest).toBe(edited.live.digest);
  });

  it("go on when one is killed; it is replaced and no row is lost", async () => {
    const { workers } = await status();
    const [victim] = workers;
    const load = startLoad(gateway, 4, "gpt-4o-mini");
    await eventually("load", () => upstream.connections.opened > 0);
    const served = await Promise.all(Array.from({ length: 8 }, () => chatOnce()));
    process.kill(victim?.pid ?? 0, "SIGKILL");
    // The kept connections may all be the killed worker's; those that follow are the other one's.
    await Promise.allSettled(Array.from({ length: 8 }, () => chatOnce()));
    const during = await Promise.allSettled(Array.from({ length: 8 }, () => chatOnce()));
    const after = await statusWithout([victim?.pid ?? 0]);
    const seen = await load.stop();
    expect(
      during.filter((reply) => reply.status === "fulfilled" && reply.value.status === 200).length,
    ).toBeGreaterThan(0);
    expect(after.workers_agree).toBe(true);
    const answered = [
      ...served.map((reply) => reply.headers.get("x-request-id")),
      ...seen
        .filter(({ status: code, hasEnded }) => code === 200 && hasEnded)
        .map(({ requestId }) => requestId),
    ];
    expect(answered.length).toBeGreaterThan(8);
    for (const id of answered)
      expect(await eventually("rows", () => rowsOf(gateway, id), 3_000)).toHaveLength(1);
  });

  it("are replaced under load without a failed request, with the new code of a plugin", async () => {
    const before = await status();
    expect((await chatOnce()).headers.get("x-said")).toBe("first");
    writeFileSync(pluginFile, stepSaying("second"));
    const waiting = await eventually("the file to be noticed", async () => {
      const now = await status();
      return now.waiting_for_restart.length > 0 && now;
    });
    expect(waiting.waiting_for_restart).toEqual([pluginFile]);
    const imported = join(workspace.folder, "my-plugins/imported.ts");
    writeFileSync(imported, "export const other = true;");
    await eventually("the imported file too", async () =>
      (await status()).waiting_for_restart.includes(imported),
    );
    const load = startLoad(gateway, 4, "gpt-4o-mini");
    const command = runCommand(
      ["restart", "--config", gateway.configPath, "--admin-url", gateway.adminUrl],
      workspace.folder,
    );
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(command.stdout).toBe("restarted: 2 of 2 workers replaced\n");
    const after = await statusWithout(before.workers.map(({ pid }) => pid));
    // A connection that was kept may reach a worker on its way out once more.
    await eventually(
      "the new code",
      async () => (await chatOnce()).headers.get("x-said") === "second",
    );
    const seen = await load.stop();
    const failed = seen.filter(({ status: code, hasEnded }) => code !== 200 || !hasEnded);
    console.info(
      `rolling restart: ${seen.length} requests, ${seen.filter(({ isStream }) => isStream).length} streams, ${failed.length} failed`,
    );
    expect(seen.length).toBeGreaterThan(100);
    expect(failed).toEqual([]);
    expect(after.waiting_for_restart).toEqual([]);
    expect(after.workers_agree).toBe(true);
  });

  it("stay when the new one cannot start", async () => {
    const before = await status();
    writeFileSync(pluginFile, "export default 1;");
    const answer = (await (await admin(gateway, "/restart", {})).json()) as {
      outcome: string;
      reasons: string[];
    };
    expect(answer).toMatchObject({ outcome: "refused", replaced: 0, workers: SIZE });
    expect(answer.reasons.join("\n")).toContain("says.ts");
    expect((await status()).workers.map(({ pid }) => pid)).toEqual(
      before.workers.map(({ pid }) => pid),
    );
    expect((await chatOnce()).headers.get("x-said")).toBe("second");
  });
});

describe("one worker that is supervised", () => {
  it("is replaced under load without a failed request", async () => {
    const supervised = await startGateway({ baseUrl: upstream.baseUrl }, {}, "warn", [
      "--supervised",
    ]);
    try {
      const load = startLoad(supervised, 2, "gpt-4o-mini");
      expect(await (await admin(supervised, "/restart", {})).json()).toMatchObject({
        outcome: "restarted",
        replaced: 1,
      });
      const seen = await load.stop();
      expect(seen.filter(({ status: code, hasEnded }) => code !== 200 || !hasEnded)).toEqual([]);
      expect(await supervised.stop()).toEqual({ code: 0, signal: null });
    } finally {
      await supervised.dispose();
    }
  });
});
