/**
 * What a budget reserves for a reply: by the bounds that the upstream may heed, not by those of
 * another dialect.
 */

import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let waiting: ServerResponse[] = [];

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const at = `api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.url}`;
  gateway = await startGateway({
    baseUrl: `${upstream.url}/v1`,
    providers: [
      `anthropic: { use: anthropic, ${at} }`,
      `gemini: { use: gemini, ${at} }`,
      `azure: { use: azure, api_key: "\${env:OPENAI_API_KEY}", endpoint: ${upstream.url} }`,
    ],
  });
});
beforeEach(() => {
  waiting = [];
  upstream.answer((response) => waiting.push(response));
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const MESSAGES = [{ role: "user", content: "Hi" }];
const MINI = { model: "gpt-4o-mini", messages: MESSAGES };
const CLAUDE = { model: "claude-haiku-4-5", messages: MESSAGES };
const FLASH = "/gemini/v1beta/models/gemini-2.0-flash:generateContent";

// The budget has room for one reply of 1,000 tokens, and for hundreds of those of one token that
// the body seems to ask for.
it.each<readonly [string, string, object, number]>([
  [
    "both bounds of a chat request",
    "/v1/chat/completions",
    { ...MINI, max_completion_tokens: 1, max_tokens: 1_000 },
    0.001,
  ],
  [
    "the same the other way round",
    "/v1/chat/completions",
    { ...MINI, max_completion_tokens: 1_000, max_tokens: 1 },
    0.001,
  ],
  ["a bound of 0", "/v1/chat/completions", { ...MINI, max_tokens: 0 }, 0.004],
  [
    "Ollama's bound at OpenAI",
    "/openai/v1/chat/completions",
    { ...MINI, num_predict: 1, options: { num_predict: 1 } },
    0.004,
  ],
  [
    "that of responses at chat completions",
    "/openai/v1/chat/completions",
    { ...MINI, max_output_tokens: 1 },
    0.004,
  ],
  [
    "that of chat completions at responses",
    "/openai/v1/responses",
    { model: "gpt-4o-mini", input: "Hi", max_tokens: 1 },
    0.004,
  ],
  [
    "that of chat completions below a deployment",
    "/azure/openai/deployments/gpt-4o-mini/chat/completions",
    { messages: MESSAGES, maxTokens: 1 },
    0.004,
  ],
  [
    "that of the old API at messages",
    "/anthropic/v1/messages",
    { ...CLAUDE, max_tokens: 1_000, max_tokens_to_sample: 1 },
    0.008,
  ],
  [
    "the larger of Gemini's two spellings",
    FLASH,
    {
      contents: [{ parts: [{ text: "Hi" }] }],
      generation_config: { max_output_tokens: 1_000, maxOutputTokens: 1 },
    },
    0.0006,
  ],
  [
    "several replies of Gemini",
    FLASH,
    {
      contents: [{ parts: [{ text: "Hi" }] }],
      generationConfig: { maxOutputTokens: 125, candidateCount: 8 },
    },
    0.0006,
  ],
  [
    "numbers that are texts at Gemini",
    FLASH,
    {
      contents: [{ parts: [{ text: "Hi" }] }],
      generationConfig: { maxOutputTokens: "125", max_output_tokens: 1, candidateCount: "8.0" },
    },
    0.0006,
  ],
  [
    "numbers that are texts at OpenAI's API",
    "/openai/v1/chat/completions",
    { ...MINI, max_completion_tokens: 125, max_tokens: 1, n: "8" },
    0.001,
  ],
  [
    "replies by a text that Python reads as a number",
    "/openai/v1/chat/completions",
    { ...MINI, max_completion_tokens: 125, n: "0_8" },
    0.001,
  ],
  [
    "replies of which the best is sent",
    "/openai/v1/completions",
    { model: "gpt-4o-mini", prompt: "Hi", max_tokens: 125, n: 1, best_of: 8 },
    0.001,
  ],
  [
    "several prompts",
    "/openai/v1/completions",
    { model: "gpt-4o-mini", prompt: Array.from({ length: 8 }, () => "Hi"), max_tokens: 125 },
    0.001,
  ],
  [
    "several prompts in tokens",
    "/openai/v1/completions",
    {
      model: "gpt-4o-mini",
      prompt: Array.from({ length: 4 }, () => [1, 2]),
      max_tokens: 125,
      n: 2,
    },
    0.001,
  ],
  [
    "a bound outside of Gemini's settings",
    FLASH,
    { contents: [{ parts: [{ text: "Hi" }] }], max_tokens: 1, maxOutputTokens: 1 },
    0.0025,
  ],
])("%s", async (_name, path, body, max_budget) => {
  const { key } = await createKey(gateway, { max_budget });
  const before = upstream.requests.length;
  const send = (): Promise<number> =>
    fetch(`${gateway.publicUrl}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    }).then(async (answer) => {
      await answer.text();
      return answer.status;
    });
  const statuses = Array.from({ length: 6 }, send);
  await eventually("the first call", () => waiting.length > 0, 20_000);
  const refused = await eventually(
    "the others",
    async () => {
      const ended = await Promise.all(
        statuses.map((status) =>
          Promise.race([status, new Promise<number>((done) => setTimeout(done, 5, 0))]),
        ),
      );
      return ended.filter((status) => status === 429).length === 5;
    },
    20_000,
  );
  expect(refused).toBe(true);
  expect(upstream.requests.length - before).toBe(1);
  for (const response of waiting) response.writeHead(400).end();
  await Promise.all(statuses);
});
