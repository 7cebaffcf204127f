/**
 * What a row says, and costs, of a call that was sent to the upstream and lost: by the operator's
 * rule, by route, and in a budget.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, GARBAGE, type Upstream, type UpstreamAction } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES, rowsOf, type SpendRow } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, NEVER_EJECTS } from "../support/workspace.ts";

/** Three a message, the role, the content, three to begin the reply. */
const PROMPT = 3 + countTokens("user") + countTokens(MESSAGES[0]?.content ?? "") + 3;
/** Nano-dollars: $0.15 for a million tokens. */
const COST = (PROMPT * 150) / 1e9;

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    balance: NEVER_EJECTS,
    provider: "timeouts: { first_byte: 1500ms, idle: 1500ms }",
    providers: [
      'dead: { use: openai, api_key: "${env:OPENAI_API_KEY}", base_url: "http://127.0.0.1:1/v1" }',
    ],
    models: [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      "{ id: dead, targets: [{ provider: dead, model: gpt-4o-mini }] }",
      "{ id: embedder, mode: embedding, targets: [{ provider: openai, model: text-embedding-3-small }] }",
      "{ id: painter, mode: image, targets: [{ provider: openai, model: dall-e-3 }] }",
    ],
  });
  const path = join(workspace.pipelinesFolder, "chat.yaml");
  const shipped = readFileSync(path, "utf8");
  const forFree = shipped
    .replace(/^pipeline: chat$/m, "pipeline: forgiving")
    .replace(/^routes:\n(?: +(?:- |#).*\n)+/m, "routes: [POST /forgiving/chat/completions]\n")
    .replace(/^( +- )cost$/m, "$1{ use: cost, with: { on_ambiguous: free } }")
    .replace(/^tests:\n[^]*?(?=^end_of_config)/m, "");
  writeFileSync(join(workspace.pipelinesFolder, "forgiving.yaml"), forFree);
  gateway = await startGateway(workspace);
  // The first counts may come before the tables are loaded, and are estimates then.
  await eventually(
    "exact counts",
    async () => (await fail({ kind: "reset" })).at(-1)?.prompt_tokens === PROMPT,
  );
});
afterEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await upstream?.close();
});

async function post(path: string, body: object, key = gateway.masterKey): Promise<SpendRow[]> {
  const response = await fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.text();
  return (await rowsOf(gateway, response.headers.get("x-request-id"))).toSorted(
    (a, b) => a.attempt - b.attempt,
  );
}

/** The rows of one request whose only call the upstream fails so. */
function fail(
  action: UpstreamAction,
  body: object = {},
  path = "/v1/chat/completions",
): Promise<SpendRow[]> {
  upstream.script(action);
  return post(path, {
    model: "gpt-4o-mini",
    messages: MESSAGES,
    num_retries: 0,
    metadata: { mine: 1 },
    ...body,
  });
}

const LOST = {
  status: "failure",
  prompt_tokens: PROMPT,
  completion_tokens: 0,
  total_tokens: PROMPT,
  usage_source: "estimated",
  spend: COST,
  cost_status: "priced",
  metadata: { mine: 1, ambiguous: true, on_ambiguous: "input_only" },
};
const REFUSED = {
  status: "failure",
  prompt_tokens: null,
  usage_source: null,
  spend: 0,
  metadata: { mine: 1 },
};

describe("a call that was sent and lost", () => {
  it.each<readonly [string, UpstreamAction, object]>([
    ["reset before the head", { kind: "reset" }, {}],
    ["silent", { kind: "hang" }, {}],
    ["cut in the body", { kind: "reply", fault: { kind: "reset", after: 40 } }, {}],
    ["silent in the body", { kind: "reply", fault: { kind: "hang", after: 40 } }, {}],
    ["cut JSON", GARBAGE.invalidJson, {}],
    [
      "a stream that is reset before its content",
      { kind: "reply", fault: { kind: "reset", after: 1 } },
      { stream: true },
    ],
    [
      "a stream that is silent before its content",
      { kind: "reply", fault: { kind: "hang", after: 0 } },
      { stream: true },
    ],
  ])("costs its prompt and says so: %s", async (_what, action, body) => {
    expect(await fail(action, body)).toMatchObject([LOST]);
  });

  it.each<readonly [string, UpstreamAction, object]>([
    ["an error's status", { kind: "error", status: 500 }, {}],
    ["a status that refuses", { kind: "error", status: 429 }, { stream: true }],
    ["a page in place of a reply", GARBAGE.html, {}],
    ["a page in place of a stream", GARBAGE.html, { stream: true }],
    ["nothing", GARBAGE.empty, {}],
    ["no connection", { kind: "reply" }, { model: "dead" }],
  ])("is not one that was answered or never sent: %s", async (_what, action, body) => {
    const rows = await fail(action, body);
    expect(rows).toMatchObject([REFUSED]);
    expect(rows[0]?.metadata).toEqual({ mine: 1 });
  });

  it("costs nothing where the operator says so, and is marked all the same", async () => {
    const metadata = { mine: 1, ambiguous: true, on_ambiguous: "free" };
    expect(await fail({ kind: "hang" }, {}, "/forgiving/chat/completions")).toMatchObject([
      { ...REFUSED, metadata },
    ]);
  });

  it("is a row beside that of the call that answered in its place, and both are in the budget", async () => {
    const { key, token_id } = await createKey(gateway, { max_budget: 1 });
    const user = "tried twice";
    upstream.script(user, { kind: "hang" }, { kind: "reply" });
    const rows = await post(
      "/v1/chat/completions",
      { model: "gpt-4o-mini", messages: MESSAGES, user },
      key,
    );
    expect(rows).toMatchObject([{ ...LOST, metadata: { ambiguous: true } }, { status: "success" }]);
    expect(rows[1]?.metadata).toEqual({});
    const { info } = (await (await admin(gateway, `/key/info?key=${token_id}`)).json()) as {
      info: { spend: number };
    };
    expect(info.spend).toBeCloseTo(COST + (rows[1]?.spend ?? 0), 12);
    await chat(
      gateway,
      { model: "gpt-4o-mini", messages: MESSAGES },
      { headers: { authorization: `Bearer ${key}` } },
    );
  });

  it("of embeddings and native calls costs its input; the cost of an image is not known", async () => {
    upstream.script({ kind: "hang" });
    const [vectors] = await post("/v1/embeddings", {
      model: "embedder",
      input: "one two three",
      num_retries: 0,
    });
    expect(vectors).toMatchObject({
      prompt_tokens: 3,
      completion_tokens: 0,
      cost_status: "priced",
      usage_source: "estimated",
    });
    const lost = { status: "failure", metadata: { ambiguous: true } };
    const [image] = await post("/v1/images/generations", { model: "painter", prompt: "A boat." });
    expect(image).toMatchObject({ ...lost, spend: null, cost_status: "unpriced" });
    const [native] = await post("/openai/v1/chat/completions", {
      model: "gpt-4o-mini",
      messages: MESSAGES,
    });
    expect(native).toMatchObject({ ...lost, cost_status: "priced", usage_source: "estimated" });
    expect(native?.spend).toBeGreaterThan(0);
  });
});
