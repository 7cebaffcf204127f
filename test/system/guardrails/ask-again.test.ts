/**
 * A reply that fits no schema is asked for once more: what the client gets, what the upstream sees,
 * what it costs.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, createKey, MESSAGES, rowsOf, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { findingsOf } from "../support/findings.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const ANSWER = "{ type: object, required: [answer], properties: { answer: { type: string } } }";
const SHAPE = `shape: { use: schema, schema: ${ANSWER}, ask_again: true }`;
const GOOD = '{"answer":"yes"}';
const BAD = "The answer is yes.";
const CENT = "price: { input: 0, output: 0, request: 0.01 }";

let upstream: Upstream;
let gateway: GatewayProcess;

function guarded(
  workspace: Workspace,
  guardrails: readonly string[],
  step: string,
  pipeline = "chat",
): Workspace {
  const section = `guardrails:\n${guardrails.map((line) => `  ${line}\n`).join("")}`;
  workspace.write(
    readFileSync(workspace.configPath, "utf8").replace(/^models:\n/m, `${section}models:\n`),
  );
  const path = join(workspace.pipelinesFolder, `${pipeline}.yaml`);
  writeFileSync(
    path,
    readFileSync(path, "utf8").replace(
      /^( +- )guardrails\b.*$/m,
      `$1{ use: guardrails, with: ${step} }`,
    ),
  );
  return workspace;
}

beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    attempts: 1,
    models: [
      `{ id: m, targets: [{ provider: openai, model: m, ${CENT} }] }`,
      `{ id: first, targets: [{ provider: openai, model: first, ${CENT} }], fallbacks: { general: [m] } }`,
    ],
  });
  const words = "words: { use: words, lists: [{ name: banned, words: [forbidden] }] }";
  gateway = await startGateway(
    guarded(workspace, [SHAPE, words], "{ stream: hold, ask_again: true }"),
  );
});
afterEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const ask = (more: object = {}, key = gateway.masterKey): Promise<Response> =>
  chat(
    gateway,
    { model: "m", messages: MESSAGES, guardrails: ["shape"], ...more },
    { headers: { authorization: `Bearer ${key}` } },
  );
const reply = (text: string): { kind: "reply"; text: string } => ({ kind: "reply", text });

async function said(response: Response): Promise<string> {
  const text = await response.text();
  if (!text.startsWith("data:"))
    return (JSON.parse(text) as { choices: [{ message: { content: string } }] }).choices[0].message
      .content;
  return [...text.matchAll(/^data: (\{.*)$/gm)]
    .map(
      ([, json]) =>
        (JSON.parse(json ?? "{}") as { choices?: { delta?: { content?: string } }[] }).choices?.[0]
          ?.delta?.content ?? "",
    )
    .join("");
}

describe.each([{}, { stream: true }])("a reply that fits no schema, %j", (more) => {
  it("is asked for once more, and both calls have their rows, tokens and cost", async () => {
    upstream.script("m", reply(BAD), reply(GOOD));
    const response = await ask(more);
    expect(response.status).toBe(200);
    expect(await said(response)).toBe(GOOD);
    expect(upstream.requests).toHaveLength(2);
    expect(upstream.requests[1]?.body).toEqual(upstream.requests[0]?.body);
    const rows = (await rowsOf(gateway, response.headers.get("x-request-id"))).toSorted(
      (a, b) => a.attempt - b.attempt,
    );
    expect(
      rows.map(({ attempt, status, spend, usage_source: source }) => [
        attempt,
        status,
        spend,
        source,
      ]),
    ).toEqual([
      [1, "success", 0.01, "provider"],
      [2, "success", 0.01, "provider"],
    ]);
    expect(rows[0]?.completion_tokens).toBe(upstream.requests[0]?.usage?.completion_tokens);
    expect(JSON.stringify(rows)).toContain("ask_again");
  });

  it("is refused the second time", async () => {
    upstream.script("m", reply(BAD));
    const response = await ask(more);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "guardrail_violation", param: "shape" },
    });
    expect(upstream.requests).toHaveLength(2);
  });

  it("is not asked for again when it fits", async () => {
    upstream.script("m", reply(GOOD));
    expect(await said(await ask(more))).toBe(GOOD);
    expect(upstream.requests).toHaveLength(1);
  });

  it("is not asked for again when it holds what no other reply would mend", async () => {
    upstream.script("m", reply("this is forbidden"), reply(GOOD));
    const response = await ask({ ...more, guardrails: ["shape", "words"] });
    expect(await response.json()).toMatchObject({ error: { param: "words" } });
    expect(upstream.requests).toHaveLength(1);
  });

  it("is the refusal when the second call fails", async () => {
    upstream.script("m", reply(BAD), { kind: "error", status: 500 });
    const response = await ask(more);
    expect(await response.json()).toMatchObject({
      error: { type: "guardrail_violation", param: "shape" },
    });
    const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(rows.map(({ status }) => status).toSorted()).toEqual(["failure", "success"]);
  });

  it("is asked for again at the model that was asked first", async () => {
    upstream.script("first", { kind: "error", status: 500 }, reply(GOOD));
    upstream.script("m", reply(BAD));
    expect(await said(await ask({ ...more, model: "first" }))).toBe(GOOD);
    expect(
      upstream.requests.map(({ body }) => (JSON.parse(body) as { model: string }).model),
    ).toEqual(["first", "m", "first"]);
  });

  it("costs no more than the budget", async () => {
    const { key } = await createKey(gateway, { max_budget: 0.015 });
    upstream.script("m", reply(BAD), reply(GOOD));
    const response = await ask(more, key);
    expect(await response.json()).toMatchObject({ error: { type: "guardrail_violation" } });
    expect(upstream.requests).toHaveLength(1);
    const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(rows.reduce((sum, { spend }) => sum + (spend ?? 0), 0)).toBe(0.01);
  });

  it("counts in the budget, both times", async () => {
    const { key, token_id: id } = await createKey(gateway, { max_budget: 0.025 });
    upstream.script("m", reply(BAD), reply(GOOD));
    expect(await said(await ask(more, key))).toBe(GOOD);
    await eventually(
      "both rows",
      async () => (await spendRows(gateway, { api_key: id })).length === 2,
    );
    const refused = await ask(more, key);
    expect(await refused.json()).toMatchObject({ error: { type: "budget_exceeded" } });
    expect(upstream.requests).toHaveLength(2);
  });

  it("does not come from the cache a second time", async () => {
    const caching = {
      ...more,
      caching: true,
      messages: [{ role: "user", content: `cached ${JSON.stringify(more)}` }],
    };
    upstream.script("m", reply(BAD), reply(GOOD));
    expect(await said(await ask(caching))).toBe(GOOD);
    upstream.script("m", reply(GOOD));
    const again = await ask(caching);
    expect([again.headers.get("x-sluice-cache"), await said(again)]).toEqual(["miss", GOOD]);
  });
});

it("a stream of several choices is judged whole: nothing of the first goes out before the last", async () => {
  const chunk = (index: number, delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index, delta, finish_reason: finish }] })}\n\n`;
  const both = (second: string): string =>
    [
      chunk(0, { content: GOOD }, null),
      chunk(0, {}, "stop"),
      chunk(1, { content: second }, null),
      chunk(1, {}, "stop"),
      "data: [DONE]\n\n",
    ].join("");
  const events = (second: string) =>
    ({ kind: "bytes", contentType: "text/event-stream", body: both(second) }) as const;
  upstream.script("m", events(BAD), events(GOOD));
  const response = await ask({ stream: true, n: 2 });
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).not.toContain(BAD);
  expect(text.split("yes")).toHaveLength(3);
  expect(upstream.requests).toHaveLength(2);
});

describe("a configuration that cannot ask again", () => {
  it.each([
    [
      "chat",
      SHAPE,
      "{ output: [shape], stream: hold }",
      /may have a reply asked for once more, and this step does not do so/,
    ],
    ["chat", SHAPE, "{ output: [shape], ask_again: true }", /`ask_again` needs `stream: hold`/],
    [
      "images",
      SHAPE,
      "{ stream: hold, ask_again: true }",
      /only replies of chat are asked for again/,
    ],
    [
      "images",
      SHAPE,
      "{ output: [shape], stream: hold }",
      /only replies of chat are asked for again/,
    ],
  ])("%s %s %s is refused", async (pipeline, guardrail, step, message) => {
    const workspace = guarded(createWorkspace(), [guardrail], step, pipeline);
    const findings = await findingsOf(workspace);
    workspace.remove();
    expect(findings).toMatch(message);
  });
});
