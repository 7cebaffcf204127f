/** Hedges through the real process: two upstreams at work on one request, one answer, two rows. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, DEFAULT_TEXT, type Upstream, type UpstreamAction } from "@sluice/testing";
import {
  admin,
  chat,
  MESSAGES,
  openaiClient,
  rowsOf,
  type SpendRow,
  spendRows,
} from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const SECOND_TEXT = "It was the second one who said this.";
const SILENT: readonly [string, UpstreamAction][] = [
  ["before the headers", { kind: "hang" }],
  ["behind the role", { kind: "reply", fault: { kind: "hang", after: 1 } }],
];

let first: Upstream;
let second: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  [first, second] = await Promise.all([createUpstream(), createUpstream()]);
  const key = 'api_key: "${env:OPENAI_API_KEY}"';
  const targets = (model: string) =>
    `targets: [{ provider: openai, model: ${model} }, { provider: second, model: ${model}, priority: 1 }]`;
  workspace = createWorkspace({
    baseUrl: first.baseUrl,
    providers: [`second: { use: openai, ${key}, base_url: "${second.baseUrl}" }`],
    models: [
      `{ id: main, balance: priority, ${targets("gpt-4o-mini")} }`,
      `{ id: vectors, mode: embedding, balance: priority, ${targets("text-embedding-3-small")} }`,
      "{ id: alone, targets: [{ provider: openai, model: only }] }",
    ],
  });
  for (const name of ["chat.yaml", "embeddings.yaml"]) {
    const path = join(workspace.pipelinesFolder, name);
    const hedged = "  - { use: hedge, with: { after: 100ms, max_rate: 100% } }\n";
    writeFileSync(path, readFileSync(path, "utf8").replace(/^ +- balance\b.*\n/m, `${hedged}$&`));
  }
  gateway = await startGateway(workspace);
});
beforeEach(() => {
  first.reset();
  second.reset();
  second.script({ kind: "reply", text: SECOND_TEXT });
});
afterAll(async () => {
  await gateway?.dispose();
  workspace?.remove();
  await Promise.all([first?.close(), second?.close()]);
});

/** The rows of a request as soon as both attempts have theirs, by attempt. */
async function bothRows(requestId: string | null): Promise<SpendRow[]> {
  const rows = await rowsOf(gateway, requestId);
  expect(rows).toHaveLength(2);
  return rows.toSorted((a, b) => a.attempt - b.attempt);
}

type Deployments = readonly {
  readonly deployment: string;
  readonly breaker: string;
  readonly in_flight: number;
  readonly attempts: { readonly failure: number; readonly other: number };
}[];

/** What the balancer says of its deployments, once none is in use. */
async function idleDeployments(): Promise<Deployments> {
  return eventually("idle deployments", async () => {
    const { deployments } = (await (await admin(gateway, "/deployments")).json()) as {
      readonly deployments: Deployments;
    };
    return deployments.every(({ in_flight: inFlight }) => inFlight === 0) && deployments;
  });
}

const textOf = (events: string) =>
  [...events.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join("");

describe.each([false, true])("a hedge (stream: %s)", (stream) => {
  it.each(stream ? SILENT : SILENT.slice(0, 1))(
    "answers for an upstream that is silent %s",
    async (_name, action) => {
      first.script(action);
      const response = await chat(gateway, { model: "main", messages: MESSAGES, stream });
      const text = await response.text();
      expect([response.status, textOf(text)]).toEqual([200, SECOND_TEXT]);
      expect(text.endsWith("data: [DONE]\n\n")).toBe(stream);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "x-sluice-hedges": "1",
        "x-sluice-attempts": "2",
        "x-sluice-provider": "second",
      });
      const left = await first.waitFor((request) => request.closedByPeerAtMs !== undefined);
      expect([first.requests.length, second.requests.length, left.finished]).toEqual([1, 1, false]);
      const [lost, won] = await bothRows(response.headers.get("x-request-id"));
      expect(lost).toMatchObject({
        status: "failure",
        error_code: "hedge_lost",
        model_id: "openai/gpt-4o-mini",
        usage_source: "estimated",
        completion_tokens: 0,
        cost_status: "priced",
      });
      expect(won).toMatchObject({
        status: "success",
        model_id: "second/gpt-4o-mini",
        usage_source: "provider",
      });
      const billed = second.requests[0]?.usage;
      expect([won?.prompt_tokens, won?.completion_tokens]).toEqual([
        billed?.prompt_tokens,
        billed?.completion_tokens,
      ]);
      expect(lost?.prompt_tokens).toBeGreaterThan(0);
    },
  );

  it("that is slower than the first is cut off, and the first says everything", async () => {
    first.script({ kind: "reply", delayMs: 300 });
    second.script({ kind: "hang" });
    const response = await chat(gateway, { model: "main", messages: MESSAGES, stream });
    expect(textOf(await response.text())).toBe(DEFAULT_TEXT);
    expect(response.headers.get("x-sluice-provider")).toBe("openai");
    await second.waitFor((request) => request.closedByPeerAtMs !== undefined);
    expect(
      (await bothRows(response.headers.get("x-request-id"))).map(({ status, error_code }) => [
        status,
        error_code,
      ]),
    ).toEqual([
      ["success", null],
      ["failure", "hedge_lost"],
    ]);
  });

  it("waits for the first when it fails itself", async () => {
    first.script({ kind: "reply", delayMs: 400 });
    second.script({ kind: "error", status: 400 });
    const response = await chat(gateway, { model: "main", messages: MESSAGES, stream });
    expect([response.status, textOf(await response.text())]).toEqual([200, DEFAULT_TEXT]);
    expect(response.headers.get("x-sluice-provider")).toBe("openai");
    expect(
      (await bothRows(response.headers.get("x-request-id"))).map(({ status }) => status),
    ).toEqual(["success", "failure"]);
  });

  it("ends with the client", async () => {
    for (const upstream of [first, second]) upstream.script({ kind: "hang" });
    const leaving = new AbortController();
    const user = `leaver-${stream}`;
    const asked = chat(
      gateway,
      { model: "main", messages: MESSAGES, stream, user },
      { signal: leaving.signal },
    );
    await second.waitFor((request) => request.parsed !== undefined);
    leaving.abort();
    await expect(asked).rejects.toThrow(/abort/);
    await Promise.all(
      [first, second].map((upstream) =>
        upstream.waitFor((request) => request.closedByPeerAtMs !== undefined),
      ),
    );
    const rows = await eventually("both rows", async () => {
      const mine = (await spendRows(gateway, {})).filter((row) => row.end_user === user);
      return mine.length > 0 && mine;
    });
    expect(rows.map(({ status, error_code }) => [status, error_code])).toEqual([
      ["failure", "client_closed"],
      ["failure", "client_closed"],
    ]);
  });
});

describe("a hedge", () => {
  it("answers embeddings", async () => {
    first.script({ kind: "hang" });
    const { data } = await openaiClient(gateway).embeddings.create({
      model: "vectors",
      input: "a",
    });
    expect([data.length, first.requests.length, second.requests.length]).toEqual([1, 1, 1]);
  });

  it("is not begun after an answer in time, nor after a failure", async () => {
    const good = await chat(gateway, { model: "main", messages: MESSAGES });
    expect([good.status, good.headers.get("x-sluice-hedges")]).toEqual([200, null]);
    first.script({ kind: "error", status: 400 });
    const bad = await chat(gateway, { model: "main", messages: MESSAGES });
    expect([bad.status, second.requests.length]).toEqual([400, 0]);
  });

  it("goes to the same target where there is no other", async () => {
    first.script("only", { kind: "hang" }, { kind: "reply" });
    const response = await chat(gateway, { model: "alone", messages: MESSAGES });
    expect([response.status, first.requests.length]).toEqual([200, 2]);
  });

  it("stays within the tries of a request, and tells one failure when both fail", async () => {
    first.script({ kind: "error", status: 503, delayMs: 200 });
    second.script({ kind: "error", status: 503, delayMs: 200 });
    const response = await chat(gateway, { model: "main", messages: MESSAGES });
    expect(response.status).toBe(503);
    expect(first.requests.length + second.requests.length).toBe(3);
  });

  it("leaves every deployment free, and says nothing of the one that lost", async () => {
    const [one] = await idleDeployments();
    first.script({ kind: "hang" });
    for (let request = 0; request < 6; request += 1) {
      expect((await chat(gateway, { model: "main", messages: MESSAGES })).status).toBe(200);
    }
    expect(first.requests).toHaveLength(6);
    const [after] = await idleDeployments();
    const { failure = 0, other = 0 } = one?.attempts ?? {};
    expect(after).toMatchObject({
      deployment: "openai/gpt-4o-mini",
      breaker: "closed",
      attempts: { failure, other: other + 6 },
    });
  });
});
