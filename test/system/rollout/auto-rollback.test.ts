/**
 * Going back by itself, through the front door: an edit whose requests fail is undone once, and
 * nothing else is.
 */

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import {
  admin,
  type Attempt,
  chat,
  configPost,
  configStatus,
  createKey,
  MESSAGES,
  rowsOf,
} from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

let upstream: Upstream;
let gateway: GatewayProcess;

const OPTIONS = {
  server: "auto_rollback: { min_requests: 10, for: 10m }",
  attempts: 1,
  balance: NEVER_EJECTS,
};
const target = (name: string): string =>
  `{ id: m, targets: [{ provider: openai, model: ${name} }] }`;

beforeAll(async () => {
  upstream = await createUpstream();
  upstream.script("bad", { kind: "error", status: 500, message: "no" });
  upstream.script("worse", { kind: "error", status: 500, message: "no" });
  gateway = await startGateway({ ...OPTIONS, baseUrl: upstream.baseUrl, models: [target("real")] });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** Saves an edit of the models, and asks for it. */
function edit(...models: string[]): Promise<Attempt> {
  gateway.workspace.write(
    gateway.workspace.config({ ...OPTIONS, baseUrl: upstream.baseUrl, models }),
  );
  return configPost(gateway, "reload");
}

let asked = 0;

async function ask(
  times: number,
  model = "m",
  key = gateway.masterKey,
  more: object = {},
): Promise<number[]> {
  const init = { headers: { authorization: `Bearer ${key}` } };
  const statuses: number[] = [];
  for (let count = 0; count < times; count += 1) {
    // Each asks something else: one body of one key that fails says nothing of an edit.
    const messages = [...MESSAGES, { role: "user", content: `Number ${(asked += 1)}.` }];
    const response = await chat(gateway, { model, messages, ...more }, init);
    await response.arrayBuffer();
    statuses.push(response.status);
  }
  return statuses;
}

/** A stream of a key of its own, whose client leaves after the first bytes; resolves with its row. */
async function leaveStream(path: string): Promise<void> {
  const { key } = await createKey(gateway, {});
  const leaving = new AbortController();
  const model = path.startsWith("/v1") ? "m" : "left";
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: MESSAGES, stream: true }),
    signal: leaving.signal,
  });
  await response.body?.getReader().read();
  leaving.abort();
  const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
  expect(row).toMatchObject({ status: "partial", error_code: "client_closed" });
}

interface Status {
  readonly live: {
    readonly generation: number;
    readonly contents_of: number | null;
    readonly reason: string | null;
  };
  readonly judged: {
    readonly generation: number;
    readonly requests: number;
    readonly before: { readonly requests: number };
  } | null;
  readonly last_attempt: Attempt & { readonly reason: string | null };
  readonly drift: { readonly files_differ: boolean };
}
const status = async (): Promise<Status> =>
  (await (await admin(gateway, "/config/status")).json()) as Status;

async function command(...args: string[]): Promise<string> {
  const { configPath, folder } = gateway.workspace;
  const run = runCommand(
    [...args, "--config", configPath, "--admin-url", gateway.adminUrl],
    folder,
  );
  await run.ended;
  return run.stdout;
}

describe("an edit whose requests fail", () => {
  it("is taken back, and everything says so", async () => {
    expect(new Set(await ask(30))).toEqual(new Set([200]));
    const { generation: before } = (await configStatus(gateway)).live;
    const bad = await edit(target("bad"));
    expect(bad).toMatchObject({ outcome: "applied", generation: before + 1 });
    expect((await status()).judged).toMatchObject({
      generation: before + 1,
      requests: 0,
      before: { requests: 30, errors: 0 },
    });
    const written = readFileSync(gateway.configPath, "utf8");
    await ask(10);
    const {
      live,
      drift,
      last_attempt: last,
      judged,
    } = await eventually("the way back", async () => {
      const seen = await status();
      return seen.live.contents_of === before && seen;
    });
    const reason = `10 of the first 10 requests of generation ${before + 1} failed, of the 30 before 0`;
    expect(live).toMatchObject({ generation: before + 2, origin: "rollback", reason });
    expect(live).toMatchObject({ author: { name: "auto_rollback", from: "gateway" } });
    expect(last).toMatchObject({ outcome: "applied", reason, author: "auto_rollback" });
    expect([drift.files_differ, judged]).toEqual([true, null]);
    expect(readFileSync(gateway.configPath, "utf8")).toBe(written);
    expect(new Set(await ask(5))).toEqual(new Set([200]));
    expect(await command("status")).toContain(`rolled back by itself: ${reason}`);
    expect(await command("history")).toMatch(
      new RegExp(`rollback of ${before} +auto_rollback +${reason}`),
    );
    expect(await command("history", String(before + 2))).toContain(
      `= rollback of ${before} by auto_rollback`,
    );
    expect(gateway.stderr + gateway.stdout).toContain("configuration rolled back by itself");
    const metrics = await (await admin(gateway, "/metrics")).text();
    expect(metrics).toMatch(/^sluice_config_failing_generations_total 1$/m);
  });

  it("stays when the same contents are asked for again", async () => {
    const { generation } = (await status()).live;
    expect(await configPost(gateway, "reload")).toMatchObject({
      outcome: "applied",
      generation: generation + 1,
    });
    expect(new Set(await ask(30))).toEqual(new Set([502]));
    expect(await status()).toMatchObject({
      judged: null,
      live: { generation: generation + 1, contents_of: null },
    });
  });

  it("gives way to the next edit, which is watched in its turn", async () => {
    expect(await edit(target("good"))).toMatchObject({ outcome: "applied" });
    expect(new Set(await ask(100))).toEqual(new Set([200]));
    const { generation } = (await status()).live;
    await edit(target("worse"));
    expect((await status()).judged).toMatchObject({ generation: generation + 1 });
    await ask(10);
    await eventually("the way back", async () => (await status()).live.contents_of === generation);
  });

  it("stays where the upstream failed before", async () => {
    upstream.script("good", { kind: "error", status: 500, message: "no" });
    expect(new Set(await ask(20))).toEqual(new Set([502]));
    const { generation } = (await status()).live;
    await edit(target("good"), "{ id: other, targets: [{ provider: echo, model: echo }] }");
    await ask(30);
    expect((await status()).live).toMatchObject({ generation: generation + 1, contents_of: null });
  });

  it("stays, and is shown, where going back would open what it closed", async () => {
    await edit(target("best"), "{ id: secret, targets: [{ provider: echo, model: echo }] }");
    await ask(100);
    upstream.script("last", { kind: "error", status: 500, message: "no" });
    const { generation } = await edit(target("last"));
    await ask(10);
    const { last_attempt: last, live } = await eventually("the finding", async () => {
      const seen = await status();
      return seen.last_attempt.outcome === "refused" && seen;
    });
    expect(live.generation).toBe(generation);
    expect(last.findings[0]?.text).toContain(
      `it stays, because generation ${Number(generation) - 1} would open the models secret`,
    );
    expect(await ask(1, "secret")).toEqual([404]);
  });

  it.each(["/openai/v1/chat/completions", "/v1/chat/completions"])(
    "is not taken back for clients that leave their streams of %s (load-and-faults 2.3)",
    async (path) => {
      upstream.script({ kind: "reply", text: "word ".repeat(500), eventDelayMs: 20 });
      upstream.script("before", { kind: "reply" });
      await edit(target("before"));
      await ask(100);
      const { generation } = await edit(target("left"));
      await Promise.all(Array.from({ length: 20 }, () => leaveStream(path)));
      const { live, judged } = await status();
      expect(live).toMatchObject({ generation, contents_of: null });
      expect(judged).toMatchObject({ generation, errors: 0 });
      upstream.script({ kind: "reply" });
    },
  );

  it("is not taken back for what one key makes fail (I9)", async () => {
    const [attacker, victim] = (await Promise.all(
      ["attacker", "victim"].map(
        async (alias) => (await createKey(gateway, { key_alias: alias })).key,
      ),
    )) as [string, string];
    upstream.script(({ parsed }) =>
      parsed?.["user"] === "attacker" ? { kind: "reset" } : { kind: "reply" },
    );
    await edit(target("calm"));
    await ask(100, "m", victim);
    const { generation } = await edit(
      target("calm"),
      "{ id: added, targets: [{ provider: echo, model: echo }] }",
    );
    await ask(5, "m", victim);
    await ask(20, "m", attacker, { user: "attacker", num_retries: 0 });
    await ask(5, "m", victim);
    expect(await status()).toMatchObject({
      live: { generation, contents_of: null },
      last_attempt: { outcome: "applied" },
    });
    // The upstream's own 5xx at a target that the edit left alone are no evidence, for any key.
    upstream.script({ kind: "error", status: 500, message: "no" });
    await ask(10, "m", attacker);
    await ask(10, "m", victim);
    expect((await status()).live).toMatchObject({ generation, contents_of: null });
  });
});
