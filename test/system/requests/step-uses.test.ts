/** What a use of a step says, with the shipped steps: conditions, shadows, schedules. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, configPost, createKey, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";

let upstream: Upstream;
let gateway: GatewayProcess;
let shipped: string;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl });
  shipped = readFileSync(chatFile(), "utf8");
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const chatFile = (): string => join(gateway.workspace.pipelinesFolder, "chat.yaml");

/** Applies the shipped pipeline with the line of a step replaced. */
async function apply(
  step: string,
  by: string,
): Promise<{ outcome: string; findings: readonly { text: string }[]; digest: string | null }> {
  writeFileSync(
    chatFile(),
    shipped.replace(new RegExp(`^ {2}- (?:\\{ use: )?${step}\\b.*$`, "m"), `  - ${by}`),
  );
  const refused = await configPost(gateway, "reload");
  // To put a guard into shadow, or to take it from some, is meant here.
  const isShrunk = refused.findings.some(({ fix }) => fix.includes("--force"));
  return isShrunk && refused.digest !== null
    ? configPost(gateway, "reload", { force: refused.digest })
    : refused;
}

async function ask(
  key: string,
  stream = false,
  model = "gpt-4o-mini",
): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await chat(
    gateway,
    { model, messages: MESSAGES, stream },
    { headers: { authorization: `Bearer ${key}` } },
  );
  return { status: response.status, headers: response.headers, text: await response.text() };
}

interface Shadow {
  readonly step: string;
  readonly runs: number;
  readonly refused: number;
  readonly answered: number;
  readonly failed: number;
}

async function shadow(): Promise<Shadow | undefined> {
  return ((await (await admin(gateway, "/config/status")).json()) as { shadows: Shadow[] })
    .shadows[0];
}

describe("mode: shadow", () => {
  it("limits say whom they would have refused, and take nothing from those that are enforced", async () => {
    expect((await apply("limits", "{ use: limits, mode: shadow }")).outcome).toBe("applied");
    const { key } = await createKey(gateway, { rpm_limit: 2 });
    for (let index = 0; index < 4; index += 1) expect((await ask(key)).status).toBe(200);
    expect(
      await eventually("the count", async () => (await shadow())?.refused === 2 && shadow()),
    ).toMatchObject({
      step: "limits",
      runs: 4,
      refused: 2,
      failed: 0,
    });
    // Enforced from here on: the key has its whole minute.
    expect((await apply("limits", "limits")).outcome).toBe("applied");
    const statuses: number[] = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await ask(key)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it("a cache says what it would have answered; every request reaches the upstream, streams whole", async () => {
    expect(
      (await apply("cache", "{ use: cache, mode: shadow, with: { mode: always } }")).outcome,
    ).toBe("applied");
    const { key } = await createKey(gateway, {});
    const before = upstream.requests.length;
    const texts: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const { status, text, headers } = await ask(key, true);
      expect([status, headers.get("x-sluice-cache"), text.endsWith("data: [DONE]\n\n")]).toEqual([
        200,
        null,
        true,
      ]);
      texts.push(text.replace(/"id":"[^"]+"|"created":\d+/g, ""));
    }
    expect(new Set(texts).size).toBe(1);
    expect(upstream.requests.length - before).toBe(3);
    expect(
      await eventually("the count", async () => ((await shadow())?.answered ?? 0) >= 1 && shadow()),
    ).toMatchObject({
      step: "cache",
      runs: 3,
      failed: 0,
    });
  });
});

describe("when and active", () => {
  it("a step applies to those it names", async () => {
    expect((await apply("limits", "{ use: limits, when: { key: [slow*] } }")).outcome).toBe(
      "applied",
    );
    const slow = await createKey(gateway, { key_alias: "slow-1", rpm_limit: 1 });
    const fast = await createKey(gateway, { key_alias: "fast-1", rpm_limit: 1 });
    const statuses: number[] = [];
    for (const { key } of [slow, slow, fast, fast]) statuses.push((await ask(key)).status);
    expect(statuses).toEqual([200, 429, 200, 200]);
  });

  it("a step that is passed by says which condition does not match, and what the request has", async () => {
    expect(
      (await apply("limits", "{ use: limits, when: { key: [fast*], header: { x-plan: gold } } }"))
        .outcome,
    ).toBe("applied");
    const { key } = await createKey(gateway, {
      key_alias: "slow-2",
      metadata: { sluice_explain: true },
    });
    const { key: fast } = await createKey(gateway, { key_alias: "fast-2" });
    const decided = async (id: string | null) => {
      const { steps } = (await (await admin(gateway, `/requests/${id}`)).json()) as {
        steps: { step: string; when: unknown; decisions: string[] }[];
      };
      return steps.find(({ step }) => step === "limits");
    };
    const when = { key: ["fast*"], header: { "x-plan": ["gold"] } };
    const headers = { authorization: `Bearer ${key}`, "x-sluice-explain": "1" };
    const slow = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES }, { headers });
    await slow.text();
    const why = "passed by: when.key does not match: slow-2";
    expect(await decided(slow.headers.get("x-request-id"))).toMatchObject({
      when,
      decisions: [why],
    });
    const explanation = slow.headers.get("x-sluice-explain");
    expect(explanation).toContain(why);
    expect(explanation).not.toMatch(/fast|gold/);
    const other = await ask(fast);
    const { decisions } = (await decided(other.headers.get("x-request-id"))) ?? {};
    expect(decisions).toEqual(["passed by: when.header.x-plan does not match: none"]);
    const run = runCommand(
      [
        "explain",
        slow.headers.get("x-request-id") ?? "",
        "--config",
        gateway.configPath,
        "--admin-url",
        gateway.adminUrl,
      ],
      gateway.workspace.folder,
    );
    await run.ended;
    expect(run.stdout).toMatch(
      /^limits +\S+chat\.yaml:\d+ +passed .*key: fast\*; header\.x-plan: gold +passed by: .*slow-2/m,
    );
  });

  it("a time that is over is a note, and the step is passed by", async () => {
    expect((await apply("limits", "{ use: limits, active: { until: 2026-01-01 } }")).outcome).toBe(
      "applied",
    );
    const { live } = (await (await admin(gateway, "/config/status")).json()) as {
      live: { notices: string[] };
    };
    expect(live.notices.join("\n")).toMatch(
      /step limits at \S*chat\.yaml:\d+ is never active again: it was until 2026-01-01/,
    );
    const { key } = await createKey(gateway, { rpm_limit: 1 });
    expect([(await ask(key)).status, (await ask(key)).status]).toEqual([200, 200]);
  });

  it("what is asked too early is a finding at its line", async () => {
    const { outcome, findings } = await apply("auth", "{ use: auth, when: { model: gpt-4o } }");
    expect([outcome, findings[0]?.text]).toEqual([
      "refused",
      expect.stringMatching(/chat\.yaml:\d+:5 {2}Step auth cannot have `when`/),
    ]);
  });
});
