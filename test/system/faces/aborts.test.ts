/**
 * Clients of every face that go away: the upstream is left, and the row says and costs what that of
 * the same chat request does, by every policy of `on_abort`.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, type SpendRow, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import {
  fourProviders,
  LANE,
  openCompletions,
  PROVIDER_ENVIRONMENT,
  PROVIDERS,
  withResponsesLane,
} from "../support/faces/four-providers.ts";
import {
  createScriptedModel,
  type Said,
  type ScriptedModel,
} from "../support/faces/scripted-model.ts";
import { readWire, sendWire, type WireName, WIRES } from "../support/faces/wires.ts";
import { exchangesUntil, MAX_EXCHANGES } from "../support/faces/left-calls.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const POLICIES = ["observed", "estimate_output", "input_only", "free"] as const;
type Policy = (typeof POLICIES)[number];
type Moment = keyof typeof MOMENTS;
const PROMPT = "Say something, please.";
const MAX_TOKENS = 400;

const FOUR_WORDS: Said = { text: "sun, two, six, zip.", piece: 5 };
const OBSERVED = "sun, two, six, ";
/** Where the upstream falls silent until it is left. */
const MOMENTS = {
  "mid-stream": { stream: true, said: { ...FOUR_WORDS, silentBefore: "zip." } },
  "before content": { stream: true, said: { ...FOUR_WORDS, silentBefore: "sun," } },
  "before headers": { stream: true, said: { isSilent: true } },
  whole: { stream: false, said: { isSilent: true } },
} as const satisfies Record<string, { stream: boolean; said: Said }>;

let model: ScriptedModel;
let gateway: GatewayProcess;

beforeAll(async () => {
  model = await createScriptedModel();
  const price = "price: { input: 1, output: 10 }";
  const four = fourProviders(model.url, price);
  const workspace = createWorkspace(withResponsesLane(model.url, four, price));
  openCompletions(workspace);
  for (const policy of POLICIES) {
    const name = policy.replace("_", "-");
    writeFileSync(
      join(workspace.pipelinesFolder, `${name}.yaml`),
      `version: 1
pipeline: ${name}
routes:
  - POST /${policy}/v1/chat/completions
  - { route: POST /${policy}/v1/messages, face: messages }
  - { route: POST /${policy}/v1/responses, face: responses }
  - { route: POST /${policy}/v1/completions, face: completions }
  - { route: "POST /${policy}/v1beta/models/{model...}:generateContent", face: gemini }
  - { route: "POST /${policy}/v1beta/models/{model...}:streamGenerateContent", face: gemini }
operation: chat
steps: [auth, { use: cost, with: { on_abort: ${policy} } }, provider]
`,
    );
  }
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
  // Counts are estimates until the tables of the encoding are loaded.
  const exact = 3 + countTokens("user") + countTokens(PROMPT) + 3;
  await eventually("exact counts", async () => {
    const { prompt_tokens: counted } = await leave("chat", "openai", "observed", "mid-stream");
    return counted === exact;
  });
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await model?.close();
});

/** Asks, leaves at a moment, waits until the upstream was left, and returns the only row. */
async function leave(
  wire: WireName,
  provider: string,
  policy: Policy | "shipped",
  moment: Moment,
): Promise<SpendRow> {
  const { key, token_id } = await createKey(gateway, {});
  const { stream, said } = MOMENTS[moment];
  model.says(said);
  const [calls, closed] = [model.requests.length, model.closed];
  const leaving = new AbortController();
  const question = { model: provider, prompt: PROMPT, stream, maxTokens: MAX_TOKENS };
  const asked = sendWire(gateway, wire, question, {
    key,
    prefix: policy === "shipped" ? "" : `/${policy}`,
    signal: leaving.signal,
  });
  const outcome = asked.catch(() => undefined);
  await eventually("the call", () => model.requests.length > calls);
  if (moment === "mid-stream") await readUntil(wire, await asked, "six");
  leaving.abort();
  await outcome;
  await exchangesUntil(gateway, "it left the upstream", () => model.closed > closed);
  const [row, ...others] = await eventually("the row", async () => {
    const rows = await spendRows(gateway, { api_key: token_id });
    return rows.length > 0 && rows;
  });
  if (row === undefined || others.length > 0)
    throw new Error(`${others.length + 1} rows, not one.`);
  return row;
}

/** Reads a stream until its text has a word. */
async function readUntil(wire: WireName, response: Response, word: string): Promise<void> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  for (let raw = ""; !readWire(wire, response, raw).text.includes(word);) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other.
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) throw new Error(`The stream ended before the word: ${raw}`);
    raw += decoder.decode(value, { stream: true });
  }
}

/** What a row has to have in common with that of a chat request. */
function billedOf({
  status,
  error_code,
  usage_source,
  spend,
  cost_status,
  metadata,
  ...row
}: SpendRow) {
  const { prompt_tokens, completion_tokens, total_tokens, attempt, model_id } = row;
  return {
    status,
    error_code,
    tokens: [prompt_tokens, completion_tokens, total_tokens],
    usage_source,
    spend,
    cost_status,
    on_abort: metadata["on_abort"],
    attempt,
    model_id,
  };
}

/** Whether anything is paid: without content, policies that estimate pay the prompt at least. */
function isPaid(policy: Policy, moment: Moment): boolean {
  return moment === "mid-stream" ? policy !== "free" : /estimate_output|input_only/.test(policy);
}

const MOMENT_NAMES = Object.keys(MOMENTS) as Moment[];
const FACE_NAMES = WIRES.filter((wire) => wire !== "chat");

describe.each([...PROVIDERS, LANE])("for %s", (provider) => {
  it.each(MOMENT_NAMES)("who leaves %s is billed on every face as on chat", async (moment) => {
    for (const policy of POLICIES) {
      // oxlint-disable no-await-in-loop -- the model says one thing at a time.
      const chat = billedOf(await leave("chat", provider, policy, moment));
      expect(chat).toMatchObject({
        status: moment === "mid-stream" ? "partial" : "failure",
        error_code: "client_closed",
        on_abort: policy,
        attempt: 1,
      });
      expect((chat.spend ?? 0) > 0).toBe(isPaid(policy, moment));
      for (const wire of FACE_NAMES)
        expect([wire, policy, billedOf(await leave(wire, provider, policy, moment))]).toEqual([
          wire,
          policy,
          chat,
        ]);
      // oxlint-enable no-await-in-loop
    }
  });
});

describe.each(WIRES)("through %s", (wire) => {
  it("the shipped pipeline bills what was observed", async () => {
    const row = billedOf(await leave(wire, "openai", "shipped", "mid-stream"));
    const observed = billedOf(await leave("chat", "openai", "observed", "mid-stream"));
    expect(row).toEqual(observed);
    expect(row).toMatchObject({
      tokens: [expect.any(Number), countTokens(OBSERVED), expect.any(Number)],
      usage_source: "estimated",
    });
  });
});

describe.each([
  ["chat", "/openai", "gpt-5-mini"],
  ["messages", "/anthropic", "claude-sonnet-4-5"],
  ["gemini", "/gemini", "gemini-2.5-flash"],
] as const)("a native call of %s", (wire, prefix, name) => {
  it.each(MOMENT_NAMES)("whose client leaves %s frees the upstream", async (moment) => {
    const { stream, said } = MOMENTS[moment];
    model.says(said);
    const [calls, closed] = [model.requests.length, model.closed];
    const leaving = new AbortController();
    const init = { prefix, signal: leaving.signal };
    const asked = sendWire(gateway, wire, { model: name, stream }, init);
    const outcome = asked.catch(() => undefined);
    await eventually("the call", () => model.requests.length > calls);
    if (moment === "mid-stream") await readUntil(wire, await asked, "six");
    leaving.abort();
    await outcome;
    const left = exchangesUntil(gateway, "it left the upstream", () => model.closed > closed);
    expect(await left).toBeLessThanOrEqual(MAX_EXCHANGES);
    expect(model.closed).toBe(closed + 1);
  });
});
