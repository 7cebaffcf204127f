/**
 * One application, written once for the OpenAI API, before upstreams of every dialect: the same
 * results, whole and streamed.
 */

import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiClient } from "../support/client.ts";
import { anthropic, vertexClaude } from "./dialects/anthropic.ts";
import { type Outcome, PICTURE, RESULTS, runApplication } from "./dialects/application.ts";
import { cohere } from "./dialects/cohere.ts";
import { converse } from "./dialects/converse.ts";
import { gemini } from "./dialects/gemini.ts";
import { CALLS, DATA, TOKENS } from "./dialects/model.ts";
import { detailed, openai } from "./dialects/openai.ts";
import {
  createSimulatedUpstream,
  type SimulatedUpstream,
  type Simulator,
} from "./dialects/simulator.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

/**
 * A dialect, how the gateway is configured for it, and what its documentation says that it cannot.
 */
interface Dialect {
  readonly simulator: Simulator;
  /** Members of the provider; `@` stands for the upstream's address. */
  readonly provider: string;
  readonly model: string;
  readonly lacks?: Readonly<Record<string, Outcome>>;
  /** Its usage says nothing of the cache. */
  readonly tellsNoCache?: true;
}

const KEY = 'api_key: "${env:SIMULATED_KEY}"';
const PATH = "/v1/chat/completions";
const usage = {
  prompt: TOKENS.prompt,
  completion: TOKENS.completion,
  total: TOKENS.prompt + TOKENS.completion,
  cached: TOKENS.cached,
};
const said = (text: string, finish = "stop"): Outcome => ({ text, finish, calls: [], usage });

/** What every dialect gives. */
const EXPECTED: Readonly<Record<string, Outcome>> = {
  system: said("System “Be brief. Say du.”. Grüße 😀"),
  called: { ...said("", "tool_calls"), calls: CALLS },
  answered: said(
    CALLS.map(
      ({ name, input }, index) => `${name}(${JSON.stringify(input)}): ${RESULTS[index]}`,
    ).join("\n"),
  ),
  seen: said(`Seen: ${PICTURE.toString("hex")}.`),
  formed: said(JSON.stringify(DATA)),
  cut: said("One, two", "length"),
  refused: said("I", "content_filter"),
};
/** Of an API that has no word for a filter. */
const UNFILTERED = { refused: said("I") };

const DIALECTS: Readonly<Record<string, Dialect>> = {
  openai: {
    simulator: openai({
      path: PATH,
      header: "authorization",
      maxTokens: "max_completion_tokens",
      filtered: "content_filter",
    }),
    provider: `use: openai, ${KEY}, base_url: @/v1`,
    model: "gpt-4o",
  },
  azure: {
    simulator: openai({
      path: `/openai${PATH}`,
      header: "api-key",
      maxTokens: "max_completion_tokens",
      filtered: "content_filter",
      before: [
        {
          id: "",
          object: "",
          created: 0,
          model: "",
          choices: [],
          prompt_filter_results: [{ prompt_index: 0 }],
        },
      ],
    }),
    provider: `use: azure, ${KEY}, endpoint: @`,
    model: "gpt-4o",
  },
  anthropic: {
    simulator: anthropic,
    provider: `use: anthropic, ${KEY}, base_url: @`,
    model: "claude-sonnet-4-5",
  },
  "vertex-claude": {
    simulator: vertexClaude,
    provider: "use: vertex, project: my-project, base_url: @, metadata_url: ~",
    model: "claude-sonnet-4-5@20250929",
  },
  gemini: {
    simulator: gemini({
      path: /^\/v1beta\/models\/gemini-3-flash-preview$/,
      isThird: true,
      header: "x-goog-api-key",
    }),
    provider: `use: gemini, ${KEY}, base_url: @`,
    model: "gemini-3-flash-preview",
  },
  vertex: {
    simulator: gemini({
      path: /^\/v1beta1\/projects\/my-project\/locations\/global\/publishers\/google\/models\/gemini-2\.5-flash$/,
      isThird: false,
      header: "authorization",
    }),
    provider: "use: vertex, project: my-project, base_url: @, metadata_url: ~",
    model: "gemini-2.5-flash",
  },
  bedrock: {
    simulator: converse,
    provider: `use: bedrock, ${KEY}, region: us-east-1, base_url: @`,
    model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  },
  mistral: {
    simulator: openai({
      path: PATH,
      header: "authorization",
      maxTokens: "max_tokens",
      hasNoDeveloper: true,
      hasPlainImages: true,
      ids: /^[a-zA-Z0-9]{9}$/,
      tellsUsage: true,
      streamUsage: "with the finish",
      usage: (totals) => ({ ...totals, num_cached_tokens: TOKENS.cached }),
    }),
    provider: `use: mistral, ${KEY}, base_url: @/v1`,
    model: "mistral-large-2512",
    lacks: UNFILTERED,
  },
  cohere: {
    simulator: cohere,
    provider: `use: cohere, ${KEY}, base_url: @`,
    model: "command-a-plus-05-2026",
  },
  groq: {
    simulator: openai({
      path: PATH,
      header: "authorization",
      maxTokens: "max_completion_tokens",
      filtered: "content_filter",
      streamUsage: "x_groq",
      usage: detailed,
    }),
    provider: `use: compatible, preset: groq, ${KEY}, base_url: @/v1`,
    model: "meta-llama/llama-4-scout-17b-16e-instruct",
  },
  deepseek: {
    simulator: openai({
      path: PATH,
      header: "authorization",
      maxTokens: "max_tokens",
      hasNoDeveloper: true,
      filtered: "content_filter",
      streamUsage: "with the finish",
      usage: (totals) => ({
        ...totals,
        prompt_cache_hit_tokens: TOKENS.cached,
        prompt_cache_miss_tokens: TOKENS.prompt - TOKENS.cached,
      }),
    }),
    provider: `use: compatible, preset: deepseek, ${KEY}, base_url: @/v1`,
    model: "deepseek-chat",
    lacks: {
      // It knows JSON mode alone, and no images.
      formed: { status: 400, param: "response_format" },
      seen: { status: 400, param: "messages[0].content[1]" },
    },
  },
  ollama: {
    simulator: openai({
      path: PATH,
      header: undefined,
      maxTokens: "max_tokens",
      hasNoDeveloper: true,
      ids: "none",
      usage: (totals) => totals,
    }),
    provider: "use: compatible, preset: ollama, base_url: @/v1",
    model: "qwen3:8b",
    lacks: UNFILTERED,
    tellsNoCache: true,
  },
};

let upstream: SimulatedUpstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  const simulators = new Map(
    Object.entries(DIALECTS).map(([name, { simulator }]) => [name, simulator]),
  );
  upstream = await createSimulatedUpstream(simulators, "ya29.simulated-token-0123456789");
  const names = Object.keys(DIALECTS);
  gateway = await startGateway(
    {
      // No server listens at the address of the provider `openai` of every workspace.
      providers: [
        ...names.map((name) => {
          const members = (DIALECTS[name]?.provider ?? "")
            .replace("@", `${upstream.url}/${name}`)
            .replace("~", upstream.url);
          return `sim-${name}: { ${members} }`;
        }),
        `toolless: { use: compatible, preset: perplexity, ${KEY}, base_url: ${upstream.url}/openai/v1 }`,
      ],
      models: [
        ...names.map(
          (name) =>
            `{ id: ${name}, targets: [{ provider: sim-${name}, model: "${DIALECTS[name]?.model}" }] }`,
        ),
        "{ id: down, targets: [{ provider: openai, model: gpt-4o }] }",
        "{ id: toolless, targets: [{ provider: toolless, model: sonar }] }",
      ],
    },
    { SIMULATED_KEY: "simulated-credential-of-the-tests-0123456789" },
  );
  client = openaiClient(gateway);
});

afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

describe("one application before every dialect", () => {
  it.each(
    Object.entries(DIALECTS).flatMap(([name, dialect]) =>
      [false, true].map((stream) => [name, stream ? "streamed" : "whole", dialect] as const),
    ),
  )("gets the same from %s, %s", async (name, how, { lacks, tellsNoCache }) => {
    const before = upstream.faults.length;
    const outcomes = await runApplication(client, name, how === "streamed");
    expect(upstream.faults.slice(before)).toEqual([]);
    expect(outcomes).toEqual(
      tellsNoCache === true ? withoutCache({ ...EXPECTED, ...lacks }) : { ...EXPECTED, ...lacks },
    );
  });
});

describe("a fallback between dialects", () => {
  const user = (content: OpenAI.ChatCompletionUserMessageParam["content"]) => [
    { role: "user" as const, content },
  ];
  const image = {
    type: "image_url",
    image_url: { url: `data:image/png;base64,${PICTURE.toString("base64")}` },
  } as const;
  const audio = { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } } as const;
  const schema = {
    type: "object",
    properties: { city: { type: "string" }, degrees: { type: "integer" } },
  };
  const format = { type: "json_schema", json_schema: { name: "weather", schema } } as const;
  const tools = ["get_weather", "get_time"].map((name) => ({
    type: "function" as const,
    function: { name, parameters: { type: "object", properties: { city: { type: "string" } } } },
  }));

  it.each<
    [
      string,
      readonly string[],
      string,
      Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "model">,
    ]
  >([
    ["tools", ["toolless", "deepseek"], "sim-deepseek", { messages: user("Weather?"), tools }],
    ["images", ["deepseek", "anthropic"], "sim-anthropic", { messages: user([image]) }],
    [
      "schema",
      ["deepseek", "anthropic"],
      "sim-anthropic",
      { messages: user("Weather?"), response_format: format },
    ],
    ["audio", ["anthropic", "gemini"], "sim-gemini", { messages: user([audio]) }],
  ])("does not ask one that cannot do %s", async (feature, fallbacks, answering, request) => {
    const unable = `${fallbacks[0] === "toolless" ? "" : "sim-"}${fallbacks[0]}/`;
    for (const stream of [false, true]) {
      const asked = { ...request, model: "down", stream, fallbacks };
      const { headers } = await client.chat.completions.create(asked).asResponse();
      expect(headers.get("x-sluice-fallback-skipped")).toMatch(
        new RegExp(`^${unable}.* \\(${feature}\\)$`),
      );
      expect(headers.get("x-sluice-provider")).toBe(answering);
    }
  });

  it("keeps the first error when no stand-in can", async () => {
    const asked = { messages: user([audio]), model: "down", fallbacks: ["anthropic", "deepseek"] };
    await expect(client.chat.completions.create(asked)).rejects.toMatchObject({ status: 503 });
  });
});

function withoutCache(outcomes: Readonly<Record<string, Outcome>>): Record<string, Outcome> {
  const plain = (outcome: Outcome): Outcome =>
    "usage" in outcome ? { ...outcome, usage: { ...outcome.usage, cached: undefined } } : outcome;
  return Object.fromEntries(
    Object.entries(outcomes).map(([name, outcome]) => [name, plain(outcome)]),
  );
}
