/** Cost through the real process: whole and streamed replies cost the same, to the nano-dollar. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import type { JsonObject } from "@sluice/contract";
import { chat, MESSAGES, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const PRICES = `version: 1
prices:
  openai/cached: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6 }
  openai/long: { input: 1, output: 2, tiers: [{ above: 200000, input: 2, output: 3 }] }
  openai/deep: { input: 2, output: 8, reasoning: 3 }
  openai/loud: { input: 2.5, output: 10, input_audio: 40, output_audio: 80 }
  openai/tiered: { input: 1.25, output: 10, service_tiers: { flex: { input: 0.625, output: 5 } } }
  openai/nothing: { free: true }
`;
const MODELS = [
  '{ id: "*", targets: [{ provider: openai, model: "*" }] }',
  "{ id: agreed, targets: [{ provider: openai, model: cached, price: { input: 1, output: 1 } }] }",
];

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = createWorkspace({ baseUrl: upstream.baseUrl, models: MODELS });
  writeFileSync(join(workspace.folder, "config/prices.yaml"), PRICES);
  const path = join(workspace.pipelinesFolder, "chat.yaml");
  const terms =
    "{ use: cost, with: { discount: { openai: 0.05 }, margin: { '*': { fraction: 1 }, openai: { fraction: 0.1 } } } }";
  writeFileSync(path, readFileSync(path, "utf8").replace(/^ {2}- cost\b.*$/m, `  - ${terms}`));
  gateway = await startGateway(workspace);
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const tokens = (prompt: number, completion: number, parts: JsonObject = {}) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...parts,
});

/**
 * List prices in nano-dollars; the gateway takes five in a hundred off and adds ten: × 0.95 × 1.1 =
 * × 1.045.
 */
const CASES: readonly [
  what: string,
  model: string,
  usage: ReturnType<typeof tokens>,
  extra: JsonObject,
  listNanoUsd: number,
][] = [
  // 700×3 + 100×0.3 + 150×3.75 + 50×6 + 10×15 = 3142.5 millionths
  [
    "cache reads, and writes for five minutes and an hour",
    "cached",
    tokens(1_000, 10, {
      prompt_tokens_details: { cached_tokens: 100 },
      cache_creation_input_tokens: 200,
      cache_creation: { ephemeral_5m_input_tokens: 150, ephemeral_1h_input_tokens: 50 },
    }),
    {},
    3_142_500,
  ],
  // 200001×2 + 100×3 = 400302
  ["a long prompt", "long", tokens(200_001, 100), {}, 400_302_000],
  // 100×2 + 250×8 + 750×3 = 4450
  [
    "reasoning",
    "deep",
    tokens(100, 1_000, { completion_tokens_details: { reasoning_tokens: 750 } }),
    {},
    4_450_000,
  ],
  // 80×2.5 + 20×40 + 5×10 + 5×80 = 1450
  [
    "audio",
    "loud",
    tokens(100, 10, {
      prompt_tokens_details: { audio_tokens: 20 },
      completion_tokens_details: { audio_tokens: 5 },
    }),
    {},
    1_450_000,
  ],
  // 1000×0.625 + 100×5 = 1125
  [
    "a service tier of the table",
    "tiered",
    tokens(1_000, 100),
    { service_tier: "flex" },
    1_125_000,
  ],
  // (1000×1.25 + 100×10) × 0.5 = 1125
  [
    "a service tier by its multiple",
    "tiered",
    tokens(1_000, 100),
    { service_tier: "batch" },
    1_125_000,
  ],
  // 1000×1 + 200×1 = 1200
  ["the price of a target", "agreed", tokens(1_000, 200), {}, 1_200_000],
  // 1000×0.15 + 400×0.6 = 390, of the built-in table
  ["the built-in table", "gpt-4o-mini", tokens(1_000, 400), {}, 390_000],
];

async function spent(model: string, stream: boolean, messages: object = MESSAGES) {
  const response = await chat(gateway, { model, messages, stream });
  expect(response.status).toBe(200);
  await response.text();
  const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
  return { row, header: response.headers.get("x-sluice-cost") };
}

describe("the cost of a reply", () => {
  it.each(CASES)(
    "of %s is exact, whole and streamed",
    async (_what, model, usage, extra, listNanoUsd) => {
      upstream.script({ kind: "reply", usage, extra });
      // Rounded half up, once; the first case ends on half a nano-dollar.
      const dollars = Math.round((listNanoUsd * 1_045) / 1_000) / 1e9;
      // A prompt of that length: usage far beyond what a prompt can have is not believed.
      const content = "word ".repeat(
        Math.ceil(Number((usage as { prompt_tokens: number }).prompt_tokens) / 12) + 1,
      );
      const whole = await spent(model, false, [{ role: "user", content }]);
      const streamed = await spent(model, true, [{ role: "user", content }]);
      expect(whole.row).toMatchObject({
        cost_status: "priced",
        spend: dollars,
        usage_source: "provider",
      });
      expect(Number(whole.header)).toBe(dollars);
      expect(streamed.row).toMatchObject({
        cost_status: "priced",
        spend: dollars,
        usage_source: "provider",
      });
      expect(streamed.header).toBeNull();
    },
  );

  it.each([
    ["a service tier without a price", "tiered", { service_tier: "priority" }],
    ["a model without a price", "unheard-of", {}],
  ])("of %s is unknown, not zero", async (_what, model, extra) => {
    upstream.script({ kind: "reply", usage: tokens(1_000, 100), extra });
    for (const stream of [false, true]) {
      const { row, header } = await spent(model, stream);
      expect(row).toMatchObject({ cost_status: "unpriced", spend: null, prompt_tokens: 1_000 });
      expect(header).toBeNull();
    }
  });

  it("of a free model is nothing, and has no margin", async () => {
    upstream.script({ kind: "reply", usage: tokens(1_000, 100) });
    expect(await spent("nothing", false)).toMatchObject({
      row: { cost_status: "free", spend: 0 },
      header: "0",
    });
  });
});
