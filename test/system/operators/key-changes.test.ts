/**
 * What a change of a key does to its next request: blocks, ends, rotations, also from another
 * process and under contention.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, createKey, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGateway({}, {}, "debug");
});
afterAll(async () => {
  await gateway?.dispose();
});

async function change(path: string, body: object, at = gateway): Promise<Record<string, unknown>> {
  const response = await admin(at, path, body);
  if (!response.ok)
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

async function use(key: string, at = gateway): Promise<number> {
  const response = await chat(
    at,
    { model: "echo", messages: MESSAGES },
    { headers: { authorization: `Bearer ${key}` } },
  );
  await response.arrayBuffer();
  return response.status;
}

describe("the very next request", () => {
  it("is refused after a block, and served after its end, a hundred times over", async () => {
    const { key, token_id } = await createKey(gateway, {});
    for (let round = 0; round < 100; round++) {
      await change("/key/block", { key: token_id });
      expect(await use(key)).toBe(401);
      await change("/key/unblock", { key });
      expect(await use(key)).toBe(200);
    }
  });

  it("is refused after a deletion, with the body that an unknown key gets", async () => {
    const { key, token_id } = await createKey(gateway, {});
    expect(await use(key)).toBe(200);
    await change("/key/delete", { keys: [token_id] });
    const bodyFor = async (presented: string) =>
      (
        await chat(
          gateway,
          { model: "echo", messages: MESSAGES },
          { headers: { authorization: `Bearer ${presented}` } },
        )
      ).text();
    expect(await bodyFor(key)).toBe(await bodyFor("sk-unknown"));
  });

  it("sees the models that a change leaves it", async () => {
    const { key, token_id } = await createKey(gateway, {});
    expect(await use(key)).toBe(200);
    await change("/key/update", { key: token_id, models: ["gpt-4o"] });
    expect(await use(key)).toBe(404);
    await change("/key/update", { key: token_id, models: null });
    expect(await use(key)).toBe(200);
  });
});

/**
 * Uses a key until it is refused. When it was refused, and when it was last served, by the sending
 * of the request.
 */
async function useUntilRefused(
  key: string,
  at = gateway,
): Promise<{ refusedMs: number; lastServedMs: number; served: number }> {
  let lastServedMs = 0;
  let served = 0;
  return eventually(
    "the key to end",
    async () => {
      const sentMs = Date.now();
      if ((await use(key, at)) === 401) return { refusedMs: Date.now(), lastServedMs, served };
      lastServedMs = sentMs;
      served++;
      return undefined;
    },
    20_000,
  );
}

describe("an end", () => {
  it("comes at its time, without any change: not before it, and not after it", async () => {
    const { key, expires } = (await createKey(gateway, { duration: "1500ms" })) as unknown as {
      key: string;
      expires: string;
    };
    const { refusedMs, lastServedMs, served } = await useUntilRefused(key);
    expect(served).toBeGreaterThan(10);
    expect(lastServedMs).toBeLessThan(Date.parse(expires));
    expect(refusedMs).toBeGreaterThanOrEqual(Date.parse(expires));
  });
});

describe("a rotation", () => {
  it("ends the old secret at once when nothing else is said", async () => {
    const { key, token_id } = await createKey(gateway, { key_alias: "rotated", models: ["echo"] });
    expect(await use(key)).toBe(200);
    const made = await change("/key/regenerate", { key });
    expect(made).toMatchObject({
      token_id,
      key_alias: "rotated",
      models: ["echo"],
      previous_key_until: null,
    });
    expect(made["key"]).toMatch(/^sk-[\w-]{43}$/);
    expect(made["key_name"]).toBe(`sk-...${String(made["key"]).slice(-4)}`);
    expect([await use(key), await use(String(made["key"]))]).toEqual([401, 200]);
  });

  it("lets both secrets work until the grace period ends, also over a kill -9", async () => {
    const workspace = createWorkspace();
    let running = await startGateway(workspace);
    try {
      const { key, token_id } = await createKey(running, {});
      const made = await change("/key/regenerate", { key: token_id, grace_period: "15s" }, running);
      const next = String(made["key"]);
      const endMs = Date.parse(String(made["previous_key_until"]));
      expect([await use(key, running), await use(next, running)]).toEqual([200, 200]);
      await running.kill();
      running = await startGateway(workspace);
      const { refusedMs, lastServedMs, served } = await useUntilRefused(key, running);
      expect(served).toBeGreaterThan(0);
      expect(lastServedMs).toBeLessThan(endMs);
      expect(refusedMs).toBeGreaterThanOrEqual(endMs);
      expect(await use(next, running)).toBe(200);
    } finally {
      await running.dispose();
    }
  });

  it("keeps one old secret, not two; a block ends both", async () => {
    const { key: first, token_id } = await createKey(gateway, {});
    const second = String(
      (await change("/key/regenerate", { key: token_id, grace_period: "10m" }))["key"],
    );
    const third = String(
      (await change("/key/regenerate", { key: token_id, grace_period: "10m" }))["key"],
    );
    const statuses = async () => [await use(first), await use(second), await use(third)];
    expect(await statuses()).toEqual([401, 200, 200]);
    await change("/key/block", { key: token_id });
    expect(await statuses()).toEqual([401, 401, 401]);
    await change("/key/unblock", { key: token_id });
    await change("/key/regenerate", { key: token_id });
    expect(await statuses()).toEqual([401, 401, 401]);
  });
});

describe("many changes at once", () => {
  it("never bring a blocked key back, and lose none of their fields", async () => {
    const { key, token_id } = await createKey(gateway, {});
    const users = 8;
    const rounds = 30;
    let isBlocked = false;
    const served: number[] = [];
    const writers = Array.from({ length: users }, async (_, writer) => {
      const field =
        ["rpm_limit", "tpm_limit", "max_parallel_requests", "max_budget"][writer % 4] ?? "";
      for (let round = 1; round <= rounds; round++)
        await change("/key/update", { key: token_id, [field]: round });
    });
    const reader = (async () => {
      for (let count = 0; count < 150; count++) {
        const wasBlocked = isBlocked;
        const status = await use(key);
        if (wasBlocked) served.push(status);
      }
    })();
    const blocker = (async () => {
      await use(key);
      await change("/key/block", { key: token_id });
      isBlocked = true;
    })();
    await Promise.all([...writers, reader, blocker]);
    expect(served.length).toBeGreaterThan(0);
    expect(new Set(served)).toEqual(new Set([401]));
    const info = (
      (await (await admin(gateway, `/key/info?key=${token_id}`)).json()) as { info: object }
    ).info;
    expect(info).toMatchObject({
      blocked: true,
      rpm_limit: rounds,
      tpm_limit: rounds,
      max_parallel_requests: rounds,
      max_budget: rounds,
    });
  });

  it("never bring a deleted key back", async () => {
    const { key, token_id } = await createKey(gateway, {});
    const writes = Array.from({ length: 60 }, (_, count) =>
      count === 30
        ? admin(gateway, "/key/delete", { keys: [token_id] })
        : admin(gateway, count % 2 === 0 ? "/key/update" : "/key/unblock", {
            key: token_id,
            ...(count % 2 === 0 && { rpm_limit: count }),
          }),
    );
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 404]));
    expect(await use(key)).toBe(401);
    expect((await admin(gateway, `/key/info?key=${token_id}`)).status).toBe(404);
  });
});

describe("another process on the same store", () => {
  it("has its block seen within a second", async () => {
    const { key, token_id } = await createKey(gateway, {});
    expect(await use(key)).toBe(200);
    const store = new DatabaseSync(join(gateway.workspace.dataDirectory, "sluice.db"), {
      timeout: 5_000,
    });
    store.prepare("update virtual_key set blocked = 1 where id = ?").run(token_id);
    store.close();
    const changedMs = Date.now();
    await eventually("the block to be seen", async () => (await use(key)) === 401, 3_000);
    expect(Date.now() - changedMs).toBeLessThan(1_500);
  });
});

describe("a change", () => {
  it("is one line of the audit: who, what, which key, which fields, and no values", async () => {
    const { token_id } = await createKey(gateway, {
      key_alias: "audited-alias",
      max_budget: 7319.0625,
    });
    await change("/key/update", { key: token_id, rpm_limit: 4711, tags: ["hidden-tag"] });
    await change("/key/block", { key: token_id });
    await change("/key/regenerate", { key: token_id, grace_period: "1m" });
    await change("/key/delete", { keys: [token_id] });
    const text = gateway.stderr;
    const lines = text
      .split("\n")
      .filter((line) => line.includes(token_id))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      lines.map(({ msg, actor, action, key_id, fields }) => ({
        msg,
        actor,
        action,
        key_id,
        fields,
      })),
    ).toEqual([
      {
        msg: "audit",
        actor: "master",
        action: "key.create",
        key_id: token_id,
        fields: ["key_alias", "max_budget"],
      },
      {
        msg: "audit",
        actor: "master",
        action: "key.update",
        key_id: token_id,
        fields: ["rpm_limit", "tags"],
      },
      { msg: "audit", actor: "master", action: "key.block", key_id: token_id, fields: ["blocked"] },
      {
        msg: "audit",
        actor: "master",
        action: "key.rotate",
        key_id: token_id,
        fields: ["key", "grace_period"],
      },
      { msg: "audit", actor: "master", action: "key.delete", key_id: token_id, fields: undefined },
    ]);
    for (const value of ["audited-alias", "4711", "hidden-tag", "7319.0625"])
      expect(text).not.toContain(value);
  });

  it("that is refused leaves no line", async () => {
    const before = gateway.stderr.split('"audit"').length;
    expect((await admin(gateway, "/key/generate", { rpm_limit: -1 })).status).toBe(400);
    expect((await admin(gateway, "/key/block", { key: "key_none" })).status).toBe(404);
    expect(gateway.stderr.split('"audit"').length).toBe(before);
  });
});

describe("a key", () => {
  it("is nowhere but in the answer that showed it: not in the log at debug, not in any file, not in another answer", async () => {
    const made = await createKey(gateway, { key_alias: "canary" });
    const rotated = await change("/key/regenerate", { key: made.key, grace_period: "10m" });
    const canaries = [made.key, String(rotated["key"])];
    let answers = "";
    for (const key of canaries) {
      await use(key);
      await chat(gateway, "not json", { headers: { authorization: `Bearer ${key}` } });
      await chat(
        gateway,
        { model: "nothing", messages: MESSAGES },
        { headers: { authorization: `Bearer ${key}` } },
      );
      for (const path of [
        `/key/info?key=${key}`,
        "/key/list?key_alias=canary",
        `/key/list?key_alias=${key}`,
        `/key/${key}`,
      ]) {
        answers += await (await admin(gateway, path)).text();
      }
      answers += await (await admin(gateway, "/key/update", { key, rpm_limit: -1 })).text();
      answers += await (await admin(gateway, "/key/block", { key })).text();
      answers += await (await admin(gateway, "/key/unblock", { key })).text();
      answers += await (await admin(gateway, "/config/status", undefined, key)).text();
    }
    answers += await (await admin(gateway, "/key/delete", { keys: canaries })).text();
    const digests = new DatabaseSync(join(gateway.workspace.dataDirectory, "sluice.db"), {
      readOnly: true,
    });
    const kept = digests.prepare("select digest, previous_digest from virtual_key").all() as Record<
      string,
      string | null
    >[];
    digests.close();
    const folder = gateway.workspace.dataDirectory;
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files.map(({ name }) => name)).toContain("sluice.db-wal");
    const texts = files.map(
      ({ parentPath, name }) =>
        [name, readFileSync(join(parentPath, name)).toString("latin1")] as const,
    );
    const places = [
      ...texts,
      ["the log", gateway.stderr + gateway.stdout] as const,
      ["answers", answers] as const,
    ];
    // Neither the key nor what makes it one.
    const hits = places.filter(([, text]) =>
      canaries.some((key) => text.includes(key.slice(3, -4))),
    );
    expect(hits.map(([name]) => name)).toEqual([]);
    for (const digest of kept.flatMap(Object.values<string | null>)) {
      if (digest === null) continue;
      expect(gateway.stderr.includes(digest)).toBe(false);
      expect(answers.includes(digest)).toBe(false);
    }
    expect(kept.length).toBeGreaterThan(0);
  });
});
