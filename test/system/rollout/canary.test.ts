/**
 * Canaries through the front door: a share of the keys tries an edit; then all keys have it, or
 * none.
 */

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import {
  admin,
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

const KEYS = 60;
const SHARE = 0.2;

interface Canary {
  readonly generation: number;
  readonly requests: number;
  readonly errors: number;
  readonly others: { readonly requests: number; readonly errors: number };
}

let upstream: Upstream;
let gateway: GatewayProcess;
let good: string;
const keys: string[] = [];

/** The gateway file with a target that works, or one whose upstream answers 500. */
const configOf = (target: string): string =>
  good.replace("{ provider: openai, model: real }", `{ provider: openai, model: ${target} }`);

beforeAll(async () => {
  upstream = await createUpstream();
  upstream.script("bad", { kind: "error", status: 500, message: "no" });
  const options = {
    baseUrl: upstream.baseUrl,
    server: "reload: on_request",
    attempts: 1,
    balance: NEVER_EJECTS,
    models: ["{ id: m, targets: [{ provider: openai, model: real }] }"],
  };
  gateway = await startGateway(options);
  good = readFileSync(gateway.configPath, "utf8");
  keys.length = 0;
  for (let index = 0; index < KEYS; index += 1)
    keys.push((await createKey(gateway, { key_alias: `key-${index}` })).key);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const canary = async (): Promise<Canary | null> =>
  ((await (await admin(gateway, "/config/status")).json()) as { canary: Canary | null }).canary;

/** One request of a key: what it was answered, and by which generation. */
async function ask(
  key: string,
): Promise<{ status: number; generation: number; id: string | null }> {
  const response = await chat(
    gateway,
    { model: "m", messages: MESSAGES },
    { headers: { authorization: `Bearer ${key}` } },
  );
  await response.arrayBuffer();
  const { status, headers } = response;
  return {
    status,
    generation: Number(headers.get("x-sluice-generation")),
    id: headers.get("x-request-id"),
  };
}

const generationsOfKeys = async (): Promise<number[]> => {
  const seen: number[] = [];
  for (const key of keys) seen.push((await ask(key)).generation);
  return seen;
};

describe("a canary", () => {
  it("chooses by the key, the same every time, and is promoted by a command", async () => {
    gateway.workspace.write(configOf("other"));
    const before = (await configStatus(gateway)).live.generation;
    const begun = await configPost(gateway, "reload", { canary: { share: "20%", for: "10m" } });
    expect(begun).toMatchObject({ outcome: "canary", generation: before + 1, findings: [] });
    const first = await generationsOfKeys();
    expect(await generationsOfKeys()).toEqual(first);
    const tried = first.filter((generation) => generation === before + 1).length;
    expect(new Set(first)).toEqual(new Set([before, before + 1]));
    expect(tried).toBeLessThan(KEYS * SHARE * 2);
    expect(await canary()).toMatchObject({
      generation: before + 1,
      requests: tried * 2,
      errors: 0,
      others: { requests: (KEYS - tried) * 2, errors: 0 },
    });
    // Another header with the same key is the same key.
    const index = first.indexOf(before + 1);
    const named = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "m", messages: MESSAGES }),
      headers: { "x-service-api-key": keys[index] ?? "", "content-type": "application/json" },
    });
    await named.arrayBuffer();
    expect([named.status, named.headers.get("x-sluice-generation")]).toEqual([
      200,
      String(before + 1),
    ]);

    const done = await configPost(gateway, "canary/promote");
    expect(done).toMatchObject({
      outcome: "promoted",
      generation: before + 1,
      reason: "the operator said so",
    });
    expect(new Set(await generationsOfKeys())).toEqual(new Set([before + 1]));
    expect(await configStatus(gateway)).toMatchObject({
      live: { generation: before + 1, origin: "canary" },
      drift: { files_differ: false },
      canary: null,
    });
    expect((await admin(gateway, "/config/canary/promote", {})).status).toBe(404);
  });

  it("of a bad edit is rolled back automatically, and affects no more than its share", async () => {
    gateway.workspace.write(configOf("bad"));
    const { live } = await configStatus(gateway);
    const { generation } = await configPost(gateway, "reload", {
      canary: { share: "20%", for: "10m", abort_if: "error_rate>5%", min_requests: 5 },
    });
    const harmed = new Set<string>();
    const failed: (string | null)[] = [];
    await eventually("the canary to be returned", async () => {
      for (const key of keys) {
        const { status, generation: by, id } = await ask(key);
        expect(status === 200 || by === generation).toBe(true);
        if (status !== 200) {
          harmed.add(key);
          failed.push(id);
        }
      }
      return (await canary()) === null;
    });
    console.info(
      `a bad canary: ${harmed.size} of ${KEYS} keys harmed, ${failed.length} requests failed until it was returned`,
    );
    expect(failed).toHaveLength(5);
    expect(harmed.size).toBeLessThan(KEYS * SHARE * 2);
    expect(await rowsOf(gateway, failed[0])).toMatchObject([{ status: "failure", generation }]);
    const status = await configStatus(gateway);
    expect(status.live).toMatchObject({ generation: live.generation, digest: live.digest });
    expect(status.last_attempt).toMatchObject({
      outcome: "returned",
      generation,
      reason: "5 of its 5 requests failed, more than 5%",
    });
    expect(status.drift.files_differ).toBe(true);
    const history = (await (await admin(gateway, "/config/history")).json()) as {
      generations: Record<string, unknown>[];
    };
    expect(history.generations[0]).toMatchObject({
      generation,
      origin: "canary",
      is_live: false,
      returned: expect.stringContaining("failed"),
    });
    expect(new Set((await generationsOfKeys()).values())).toEqual(new Set([live.generation]));
    expect(gateway.stderr).toContain("canary returned");
  });

  it("ends when another edit is applied; the command line says how it stands", async () => {
    const { live } = await configStatus(gateway);
    const run = async (...args: string[]) => {
      const command = runCommand(
        [...args, "--config", gateway.configPath, "--admin-url", gateway.adminUrl],
        gateway.workspace.folder,
      );
      const { code } = await command.ended;
      return [code, command.stdout || command.stderr];
    };
    gateway.workspace.write(configOf("third"));
    expect(
      await run(
        "reload",
        "--canary",
        "5%",
        "--for",
        "1h",
        "--abort-if",
        "error_rate>5% or p99>20s",
      ),
    ).toEqual([0, expect.stringMatching(/^canary: generation \d+ \(digest [0-9a-f]{12}\)\n$/)]);
    expect((await run("status"))[1]).toMatch(
      /^canary generation \d+ for 5% of the keys until \S+: 0 of 0 requests failed/m,
    );
    expect(await run("reload", "--for", "1h")).toEqual([
      2,
      expect.stringContaining("belong to --canary"),
    ]);
    expect(await run("reload", "--canary", "5")).toEqual([
      1,
      expect.stringContaining("5 is no share: write one such as 5%."),
    ]);
    gateway.workspace.write(configOf("fourth"));
    const applied = await configPost(gateway, "reload");
    expect(applied.outcome).toBe("applied");
    expect(applied.generation).toBeGreaterThan(live.generation);
    expect((await configStatus(gateway)).live.generation).toBe(applied.generation);
    expect(await canary()).toBeNull();
  });
});

describe("server.reload: on_request", () => {
  it("shows a saved edit as drift and applies it on request", async () => {
    const { live } = await configStatus(gateway);
    gateway.workspace.write(configOf("fifth"));
    await eventually("the file to be seen", async () => {
      const history = (await (await admin(gateway, "/config/history")).json()) as {
        attempts: { outcome: string }[];
      };
      return history.attempts[0]?.outcome === "unchanged";
    });
    expect(await configStatus(gateway)).toMatchObject({
      live: { generation: live.generation },
      drift: { files_differ: true },
    });
    expect(await configPost(gateway, "reload")).toMatchObject({
      outcome: "applied",
      generation: live.generation + 1,
    });
  });
});

describe("a canary of several workers", () => {
  it("counts the requests of all, ends in all when one sees a fault, and refuses a restart", async () => {
    const options = { baseUrl: upstream.baseUrl, attempts: 1, balance: NEVER_EJECTS };
    const models = ["{ id: m, targets: [{ provider: openai, model: real }] }"];
    const several = await startGateway({
      ...options,
      server: "workers: 2, reload: on_request",
      models,
    });
    const single = gateway;
    gateway = several;
    try {
      const text = readFileSync(several.configPath, "utf8");
      const write = (target: string): void =>
        several.workspace.write(text.replace("model: real", `model: ${target}`));
      const agreed = (): Promise<{
        live: { generation: number };
        last_attempt: { outcome: string };
      }> =>
        eventually(
          "the end of the canary in all workers",
          async () => {
            const now = (await (await admin(several, "/config/status")).json()) as {
              canary: object | null;
              workers_agree: boolean;
              live: { generation: number };
              last_attempt: { outcome: string };
            };
            return now.canary === null && now.workers_agree && now;
          },
          20_000,
        );
      let number = 0;
      const fresh = (): Promise<Response> =>
        chat(
          several,
          { model: "m", messages: MESSAGES, user: `number ${(number += 1)}` },
          { headers: { connection: "close" } },
        );

      write("bad");
      await configPost(several, "reload", {
        canary: { share: "100%", for: "10m", min_requests: 6 },
      });
      const restart = (await (await admin(several, "/restart", {})).json()) as {
        outcome: string;
        reasons: string[];
      };
      expect(restart).toMatchObject({
        outcome: "refused",
        reasons: [expect.stringContaining("A canary runs")],
      });
      await eventually("its return", async () => {
        await (await fresh()).arrayBuffer();
        return (await canary()) === null;
      });
      expect((await agreed()).last_attempt.outcome).toBe("returned");
      expect((await fresh()).status).toBe(200);

      write("other");
      // One worker alone has too few of them.
      await configPost(several, "reload", {
        canary: { share: "100%", for: "5s", min_requests: 30 },
      });
      const replies = await Promise.all(Array.from({ length: 30 }, fresh));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
      expect(await canary()).toMatchObject({ requests: 30, errors: 0 });
      const after = await agreed();
      expect(after.last_attempt.outcome).toBe("promoted");
      expect((await fresh()).headers.get("x-sluice-generation")).toBe(
        String(after.live.generation),
      );
    } finally {
      gateway = single;
      await several.dispose();
    }
  });
});
