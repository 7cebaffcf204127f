/** One edit for all instances: it converges, or the command says where it did not and why. */

import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, createKey, MESSAGES } from "../support/client.ts";
import {
  commandAt,
  createFleet,
  type FleetMember,
  fleetOf,
  type TestFleet,
} from "../support/databases/fleet.ts";
import { eventually } from "../support/eventually.ts";
import { isServerThere } from "../support/postgres.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

const ON_REQUEST = "reload: on_request";
const KEYS = 24;

let upstream: Upstream;
let fleet: TestFleet;
const keys: string[] = [];

const modelOf = (target: string, more: readonly string[] = []) => ({
  models: [`{ id: m, targets: [{ provider: openai, model: ${target} }] }`, ...more],
});
const textOf = (target: string, more: readonly string[] = []): string =>
  fleet.text({ ...modelOf(target, more), server: ON_REQUEST });
const writeAt = (members: readonly FleetMember[], text: string): void =>
  members.forEach(({ workspace }) => workspace.write(text));

/** One request of a key at a member: its status, and the model that was asked at the upstream. */
async function ask({ gateway }: FleetMember, key: string) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await chat(gateway, { model: "m", messages: MESSAGES }, { headers });
  await response.arrayBuffer();
  return { status: response.status, generation: response.headers.get("x-sluice-generation") };
}

/** Whether a key is in the canary, for each key: as a text to compare. */
async function choiceAt(member: FleetMember): Promise<string> {
  const { canary, live } = await statusOf(member);
  const seen: string[] = [];
  for (const key of keys) {
    const { generation } = await ask(member, key);
    seen.push(generation === String(canary) ? "1" : generation === String(live) ? "0" : "?");
  }
  return seen.join("");
}

async function statusOf({ gateway }: FleetMember) {
  const response = await fetch(`${gateway.adminUrl}/config/status`, {
    headers: { authorization: `Bearer ${gateway.masterKey}` },
  });
  const status = (await response.json()) as {
    readonly live: { readonly generation: number; readonly digest: string };
    readonly canary: { readonly generation: number } | null;
    readonly last_attempt: { readonly outcome: string; readonly reason: string | null };
    readonly workers?: readonly { readonly canary: number | null }[];
  };
  const { live, canary, last_attempt: last } = status;
  return { live: live.generation, digest: live.digest, canary: canary?.generation, last };
}

/** All members run a canary, or none does. */
const canaries = (isThere: boolean): Promise<unknown> =>
  eventually(`${isThere ? "a" : "no"} canary everywhere`, async () => {
    const { instances } = await fleetOf(fleet.members[0] as FleetMember);
    return instances.every(({ canary }) => (canary !== null) === isThere);
  });

describe.skipIf(!isServerThere)("sluice reload --fleet", () => {
  let all: readonly FleetMember[];
  let [first, second, third] = [] as unknown as readonly FleetMember[] as [
    FleetMember,
    FleetMember,
    FleetMember,
  ];

  beforeAll(async () => {
    upstream = await createUpstream();
    upstream.script("bad", { kind: "error", status: 500, message: "no" });
    fleet = await createFleet({
      baseUrl: upstream.baseUrl,
      attempts: 1,
      balance: NEVER_EJECTS,
      server: ON_REQUEST,
      ...modelOf("one"),
    });
    const environment = { OPENAI_API_KEY: "sk-upstream" };
    first = await fleet.add({ ...environment, EXTRA: "extra" });
    [second, third] = await Promise.all([
      fleet.add({ ...environment, EXTRA: "another" }),
      fleet.add(environment),
    ]);
    all = [first, second, third];
    for (let index = 0; index < KEYS; index += 1)
      keys.push((await createKey(first.gateway, { key_alias: `key-${index}` })).key);
  });
  afterAll(async () => {
    await fleet?.dispose();
    await upstream?.close();
  });

  it("waits for files that arrive later, and ends when all instances run them", async () => {
    writeAt([first], textOf("two"));
    const waiting = commandAt(first, "reload", "--fleet", "--wait", "60s");
    await eventually("the others to wait", async () => {
      const { instances } = await fleetOf(second);
      return instances.filter(({ rollout }) => rollout?.outcome === "waiting").length === 2;
    });
    writeAt([second, third], textOf("two"));
    const { code, stdout } = await waiting;
    expect(stdout).toMatch(/3 of 3 instances run files [0-9a-f]{12}\n$/);
    expect(code).toBe(0);
    expect((await fleetOf(third)).agree).toBe(true);
  });

  it("says which instance refuses and why, and which has other files", async () => {
    const extra = '{ id: "${env:EXTRA}", targets: [{ provider: echo, model: echo }] }';
    writeAt(all, textOf("three", [extra]));
    const refused = await commandAt(first, "reload", "--fleet", "--wait", "30s");
    expect(refused.stdout).toContain("needs ${env:EXTRA}, which is not set");
    expect(refused.stdout).toMatch(/2 of 3 instances run files/);
    expect(refused.code).toBe(1);
    writeAt([first, second], textOf("four"));
    const other = await commandAt(second, "reload", "--fleet", "--wait", "2s", "--json");
    expect(other.code).toBe(1);
    const { fleet: waited } = JSON.parse(other.stdout) as {
      readonly fleet: { readonly converged: boolean; readonly instances: readonly string[] };
    };
    expect(waited.converged).toBe(false);
    expect(waited.instances.join("\n")).toMatch(/has other files, [0-9a-f]{12} runs there/);
    // Its own findings are the first instance's: no other one is asked.
    writeAt([first], "models: [");
    expect(await commandAt(first, "reload", "--fleet")).toMatchObject({ code: 1 });
    writeAt(all, textOf("five"));
    expect(await commandAt(first, "reload", "--fleet", "--wait")).toMatchObject({ code: 0 });
  });

  it("tries an edit on the same keys everywhere, and promotes it everywhere", async () => {
    writeAt(all, textOf("six"));
    const begun = await commandAt(first, "reload", "--fleet", "--canary", "50%", "--wait");
    expect(begun.stdout).toMatch(/3 of 3 instances try files/);
    expect(begun.code).toBe(0);
    const chosen = await choiceAt(first);
    expect(await choiceAt(second)).toBe(chosen);
    expect(await choiceAt(third)).toBe(chosen);
    expect(chosen).toMatch(/^[01]+$/);
    expect(new Set(chosen).size).toBe(2);
    const { rollout } = await eventually("the counts of all", async () => {
      const found = await fleetOf(second);
      const tried = 3 * [...chosen].filter((one) => one === "1").length;
      return found.rollout?.canary?.requests === tried && found;
    });
    expect(rollout?.canary?.errors).toBe(0);
    expect(await commandAt(second, "canary", "promote")).toMatchObject({ code: 0 });
    await canaries(false);
    const seen = await eventually("agreement", async () => {
      const found = await fleetOf(third);
      return found.agree && found;
    });
    expect(seen.rollout?.stage).toBe("promoted");
  });

  it("returns a canary everywhere for failures that no instance alone would return it for", async () => {
    writeAt(all, textOf("bad"));
    const before = await statusOf(third);
    const plan = ["--canary", "50%", "--abort-if", "error_rate>20%", "--min-requests", "8"];
    await commandAt(first, "reload", "--fleet", "--wait", ...plan);
    const [mine = "", yours = ""] = await inCanary(first, keys);
    // One key, at two instances: no verdict.
    for (let count = 0; count < 6; count += 1) {
      expect((await ask(first, mine)).status).toBe(502);
      expect((await ask(second, mine)).status).toBe(502);
    }
    await eventually("the counts of both", async () => {
      const { rollout } = await fleetOf(third);
      return rollout?.canary?.errors === 12;
    });
    expect((await fleetOf(third)).rollout?.stage).toBe("canary");
    // Another key at the third instance.
    await ask(third, yours);
    await canaries(false);
    const { rollout } = await fleetOf(first);
    expect(rollout).toMatchObject({ stage: "returned" });
    expect(rollout?.reason).toMatch(/of its \d+ requests failed, more than 20%/);
    for (const member of all) {
      const { last } = await statusOf(member);
      expect(last).toMatchObject({ outcome: "returned", reason: rollout?.reason });
    }
    expect((await statusOf(third)).digest).toBe(before.digest);
  });

  it("returns a canary by itself where the store is not reached, and joins it again", async () => {
    writeAt(all, textOf("seven"));
    await commandAt(first, "reload", "--fleet", "--canary", "50%", "--wait");
    await canaries(true);
    await fleet.database.setAway(true);
    for (const member of all)
      await eventually("the end of the canary here", async () => {
        const { canary, last } = await statusOf(member);
        return canary === undefined && last.reason?.includes("the store of the fleet");
      });
    await fleet.database.setAway(false);
    await canaries(true);
    expect((await fleetOf(second)).rollout?.stage).toBe("canary");
    const { code, stderr } = await commandAt(third, "canary", "abort");
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    await canaries(false);
  });

  it("goes on when an instance is killed, which is named as not reached", async () => {
    writeAt(all, textOf("eight"));
    await third.gateway.kill();
    await fleet.database.query("update instance set seen_at_ms = seen_at_ms - 60000");
    const { code, stdout } = await commandAt(first, "reload", "--fleet", "--wait", "4s");
    expect(code).toBe(1);
    expect(stdout).toContain("2 of 3 instances run files");
    const [, id = ""] = /sluice fleet forget (\w+)/.exec(stdout) ?? [];
    expect(await commandAt(second, "fleet", "forget", id)).toMatchObject({ code: 0 });
    expect(await commandAt(second, "fleet", "forget", id)).toMatchObject({ code: 1 });
    expect(await commandAt(first, "reload", "--fleet", "--wait", "10s")).toMatchObject({ code: 0 });
  });
});

/** Two keys that the canary has. What tells them is no failure. */
async function inCanary(member: FleetMember, from: readonly string[]): Promise<readonly string[]> {
  const { canary } = await statusOf(member);
  const found: string[] = [];
  for (const key of from) {
    if (found.length === 2) break;
    const response = await fetch(`${member.gateway.publicUrl}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await response.arrayBuffer();
    if (response.headers.get("x-sluice-generation") === String(canary)) found.push(key);
  }
  return found;
}
