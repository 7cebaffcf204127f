import { describe, expect, it } from "vitest";
import { createUsageMeter } from "./meter.ts";
import { readNativeUsage } from "./native-usage.ts";

describe("the usage of a native reply", () => {
  it.each([
    [
      "OpenAI chat",
      { usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14, prompt_tokens_details: { cached_tokens: 6 } } },
      { promptTokens: 10, completionTokens: 4, totalTokens: 14, cachedTokens: 6 },
    ],
    [
      "OpenAI embeddings",
      { usage: { prompt_tokens: 8, total_tokens: 8 } },
      { promptTokens: 8, completionTokens: 0, totalTokens: 8 },
    ],
    [
      "OpenAI responses: cached tokens are part of the input",
      {
        usage: {
          input_tokens: 20,
          input_tokens_details: { cached_tokens: 5 },
          output_tokens: 7,
          output_tokens_details: { reasoning_tokens: 3 },
        },
      },
      { promptTokens: 20, completionTokens: 7, totalTokens: 27, cachedTokens: 5, reasoningTokens: 3 },
    ],
    [
      "an OpenAI response event",
      { type: "response.completed", response: { usage: { input_tokens: 2, output_tokens: 1 } } },
      { promptTokens: 2, completionTokens: 1, totalTokens: 3 },
    ],
    [
      "Anthropic: cached tokens stand beside the input",
      { usage: { input_tokens: 10, cache_read_input_tokens: 90, cache_creation_input_tokens: 5, output_tokens: 7 } },
      { promptTokens: 105, completionTokens: 7, totalTokens: 112, cachedTokens: 90, cacheWriteTokens: 5 },
    ],
    [
      "Anthropic: writes for an hour, and the service tier",
      {
        usage: {
          input_tokens: 1,
          cache_creation_input_tokens: 30,
          cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
          output_tokens: 2,
          service_tier: "priority",
        },
      },
      { promptTokens: 31, cacheWriteTokens: 30, cacheWrite1hTokens: 20, serviceTier: "priority" },
    ],
    [
      "OpenAI images",
      {
        created: 1,
        data: [{ b64_json: "" }],
        usage: { input_tokens: 5, output_tokens: 100, input_tokens_details: { image_tokens: 2 } },
      },
      { promptTokens: 5, completionTokens: 100, imagePromptTokens: 2, imageCompletionTokens: 100 },
    ],
    [
      "Gemini: parts by modality",
      {
        usageMetadata: {
          promptTokenCount: 9,
          candidatesTokenCount: 4,
          promptTokensDetails: [
            { modality: "TEXT", tokenCount: 2 },
            { modality: "AUDIO", tokenCount: 7 },
          ],
        },
      },
      { promptTokens: 9, completionTokens: 4, audioPromptTokens: 7 },
    ],
    [
      "Vertex AI: the kind of traffic is a tier, and cached parts have modalities",
      {
        usageMetadata: {
          promptTokenCount: 9,
          candidatesTokenCount: 4,
          cachedContentTokenCount: 5,
          cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 5 }],
          trafficType: "ON_DEMAND_FLEX",
        },
      },
      { promptTokens: 9, cachedTokens: 5, cachedAudioTokens: 5, serviceTier: "flex" },
    ],
    [
      "Gemini: thoughts stand beside the candidates",
      {
        usageMetadata: {
          promptTokenCount: 9,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 6,
          cachedContentTokenCount: 2,
          totalTokenCount: 19,
        },
      },
      { promptTokens: 9, completionTokens: 10, totalTokens: 19, cachedTokens: 2, reasoningTokens: 6 },
    ],
  ])("%s", (_name, body, usage) => {
    expect(readNativeUsage(body)).toMatchObject(usage);
  });

  it.each([
    [{}],
    [{ usage: null }],
    [{ usage: {} }],
    [{ usageMetadata: {} }],
    [{ usage: { input_tokens: -1 } }],
    [{ usage: "many" }],
  ])("is unknown, not zero, in %j", (body) => {
    expect(readNativeUsage(body)).toBeUndefined();
  });
});

describe("a meter", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const gemini = [
    'data: {"candidates":[],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1}}\r\n\r\n',
    'data: {"candidates":[],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":8}}\r\n\r\n',
  ].join("");

  it("takes the last of the growing totals of a Gemini stream, however it is cut", () => {
    for (let cut = 0; cut <= gemini.length; cut++) {
      const meter = createUsageMeter("text/event-stream; charset=utf-8");
      meter.push(bytes(gemini.slice(0, cut)));
      meter.push(bytes(gemini.slice(cut)));
      expect(meter.end()).toMatchObject({ promptTokens: 5, completionTokens: 8, totalTokens: 13 });
    }
  });

  it("reads a JSON body that came in pieces, and an array of Gemini replies", () => {
    const meter = createUsageMeter("application/json");
    meter.push(bytes('[{"usageMetadata":{"promptTokenCount":1}},{"usageMeta'));
    meter.push(bytes('data":{"promptTokenCount":5,"candidatesTokenCount":8}}]'));
    expect(meter.end()).toMatchObject({ totalTokens: 13 });
  });

  it("has no usage for what it cannot read, and does not fail", () => {
    for (const type of ["application/json", "text/event-stream", "audio/wav", undefined]) {
      const meter = createUsageMeter(type);
      meter.push(bytes('{"usage":{"prompt_tokens":1,'));
      expect(meter.end()).toBeUndefined();
    }
  });

  it("looks at no JSON body over its bound", () => {
    const meter = createUsageMeter("application/json");
    meter.push(bytes(`{"usage":{"prompt_tokens":1,"completion_tokens":1},"a":"${"x".repeat(9 * 1024 * 1024)}"}`));
    expect(meter.end()).toBeUndefined();
  });
});
