import { describe, expect, it } from "vitest";
import { createUsageMeter } from "@sluice/runtime/passthrough";
import { readHeaderUsage, readNativeUsage } from "./native-usage.ts";

describe("the usage of a native reply", () => {
  it.each([
    [
      "OpenAI chat",
      {
        usage: {
          prompt_tokens: 10,
          completion_tokens: 4,
          total_tokens: 14,
          prompt_tokens_details: { cached_tokens: 6 },
        },
      },
      { promptTokens: 10, completionTokens: 4, totalTokens: 14, cachedTokens: 6 },
    ],
    [
      "Cohere chat: tokens, and what is billed beside them",
      {
        message: { role: "assistant" },
        usage: {
          billed_units: { input_tokens: 5, output_tokens: 6 },
          tokens: { input_tokens: 499 },
        },
      },
      {
        promptTokens: 499,
        completionTokens: 6,
        totalTokens: 505,
        billed: { promptTokens: 5, completionTokens: 6 },
      },
    ],
    [
      "Cohere's last event",
      {
        type: "message-end",
        delta: {
          finish_reason: "COMPLETE",
          usage: { billed_units: { input_tokens: 5, output_tokens: 6 } },
        },
      },
      { promptTokens: 5, completionTokens: 6, totalTokens: 11 },
    ],
    [
      "Cohere embeddings of texts and images",
      {
        embeddings: { float: [[1]] },
        meta: { billed_units: { input_tokens: 2, image_tokens: 100 } },
      },
      { promptTokens: 102, completionTokens: 0, totalTokens: 102, imagePromptTokens: 100 },
    ],
    [
      "Stability's engines: images that were made",
      {
        artifacts: [
          { base64: "A", finishReason: "SUCCESS" },
          { base64: "B", finishReason: "CONTENT_FILTERED" },
        ],
      },
      { promptTokens: 0, completionTokens: 0, totalTokens: 0, images: { count: 1 } },
    ],
    [
      "Stability's services: one image",
      { image: "A", finish_reason: "SUCCESS", seed: 1 },
      { promptTokens: 0, completionTokens: 0, totalTokens: 0, images: { count: 1 } },
    ],
    [
      "Stability's services: a filtered one",
      { image: "A", finish_reason: "CONTENT_FILTERED", seed: 1 },
      { promptTokens: 0, completionTokens: 0, totalTokens: 0, images: { count: 0 } },
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
      {
        promptTokens: 20,
        completionTokens: 7,
        totalTokens: 27,
        cachedTokens: 5,
        reasoningTokens: 3,
      },
    ],
    [
      "Anthropic: thoughts are part of the output",
      {
        usage: {
          input_tokens: 2,
          output_tokens: 7,
          output_tokens_details: { thinking_tokens: 3 },
        },
      },
      { promptTokens: 2, completionTokens: 7, totalTokens: 9, reasoningTokens: 3 },
    ],
    [
      "an OpenAI response event",
      { type: "response.completed", response: { usage: { input_tokens: 2, output_tokens: 1 } } },
      { promptTokens: 2, completionTokens: 1, totalTokens: 3 },
    ],
    [
      "Anthropic: cached tokens stand beside the input",
      {
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 90,
          cache_creation_input_tokens: 5,
          output_tokens: 7,
        },
      },
      {
        promptTokens: 105,
        completionTokens: 7,
        totalTokens: 112,
        cachedTokens: 90,
        cacheWriteTokens: 5,
      },
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
      "Anthropic: fast mode",
      {
        usage: { input_tokens: 1, output_tokens: 2, service_tier: "standard", speed: "fast" },
      },
      { promptTokens: 1, completionTokens: 2, serviceTier: "fast" },
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
      {
        promptTokens: 9,
        completionTokens: 10,
        totalTokens: 19,
        cachedTokens: 2,
        reasoningTokens: 6,
      },
    ],
    [
      "Bedrock's Converse: cached tokens stand beside the input",
      {
        usage: {
          inputTokens: 10,
          outputTokens: 7,
          totalTokens: 117,
          cacheReadInputTokens: 60,
          cacheWriteInputTokens: 40,
          cacheDetails: [
            { ttl: "1h", inputTokens: 30 },
            { ttl: "5m", inputTokens: 10 },
          ],
        },
        serviceTier: { type: "flex" },
      },
      {
        promptTokens: 110,
        completionTokens: 7,
        totalTokens: 117,
        cachedTokens: 60,
        cacheWriteTokens: 40,
        cacheWrite1hTokens: 30,
        serviceTier: "flex",
      },
    ],
    [
      "the last chunk of a model behind Bedrock",
      {
        type: "message_stop",
        "amazon-bedrock-invocationMetrics": { inputTokenCount: 14, outputTokenCount: 36 },
      },
      { promptTokens: 14, completionTokens: 36, totalTokens: 50 },
    ],
    [
      "Groq: inside x_groq, in the last chunk",
      {
        choices: [],
        x_groq: {
          id: "req_1",
          usage: { prompt_tokens: 18, completion_tokens: 4, total_tokens: 22 },
        },
      },
      { promptTokens: 18, completionTokens: 4, totalTokens: 22 },
    ],
    [
      "DeepSeek: hits of the cache beside the totals",
      {
        usage: {
          prompt_tokens: 20,
          completion_tokens: 4,
          total_tokens: 24,
          prompt_cache_hit_tokens: 16,
        },
      },
      { promptTokens: 20, cachedTokens: 16 },
    ],
    [
      "Moonshot and Perplexity: cached and reasoning tokens beside the totals",
      {
        usage: {
          prompt_tokens: 20,
          completion_tokens: 9,
          total_tokens: 29,
          cached_tokens: 8,
          reasoning_tokens: 5,
        },
      },
      {
        promptTokens: 20,
        completionTokens: 9,
        totalTokens: 29,
        cachedTokens: 8,
        reasoningTokens: 5,
      },
    ],
    [
      "xAI: reasoning that the total counts and the completion does not",
      {
        usage: {
          prompt_tokens: 32,
          completion_tokens: 9,
          total_tokens: 241,
          completion_tokens_details: { reasoning_tokens: 200 },
        },
      },
      { promptTokens: 32, completionTokens: 209, totalTokens: 241, reasoningTokens: 200 },
    ],
    [
      "xAI: more cached tokens than there are in the prompt",
      {
        usage: {
          prompt_tokens: 10,
          completion_tokens: 1,
          total_tokens: 11,
          prompt_tokens_details: { cached_tokens: 120 },
        },
      },
      { promptTokens: 130, completionTokens: 1, totalTokens: 131, cachedTokens: 120 },
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
    [{ embeddings: {}, meta: { billed_units: { images: 1 } } }],
    [{ image: "https://example.com/a.png" }],
  ])("is unknown, not zero, in %j", (body) => {
    expect(readNativeUsage(body)).toBeUndefined();
  });
});

describe("headers of Bedrock", () => {
  it("tell the tokens of a model whose body does not", () => {
    const headers = {
      "x-amzn-bedrock-input-token-count": "14",
      "x-amzn-bedrock-cache-read-input-token-count": "6",
    };
    expect(readHeaderUsage(headers)).toEqual({
      promptTokens: 20,
      completionTokens: 0,
      totalTokens: 20,
      cachedTokens: 6,
    });
  });

  it.each([
    [{}],
    [{ "x-amzn-bedrock-input-token-count": "-1" }],
    [{ "x-amzn-bedrock-output-token-count": "5" }],
  ])("tell nothing in %j", (headers) => expect(readHeaderUsage(headers)).toBeUndefined());
});

describe("a meter", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const gemini = [
    'data: {"candidates":[],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1}}\r\n\r\n',
    'data: {"candidates":[],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":8}}\r\n\r\n',
  ].join("");

  it("counts a bare image with a finish reason, and no file that a client fetched", () => {
    expect(
      createUsageMeter({ contentType: "image/png", finishReason: "SUCCESS" }).end(),
    ).toMatchObject({
      totalTokens: 0,
      images: { count: 1 },
    });
    expect(
      createUsageMeter({ contentType: "image/png", finishReason: "CONTENT_FILTERED" }).end(),
    ).toMatchObject({
      images: { count: 0 },
    });
    expect(createUsageMeter({ contentType: "image/png" }).end()).toBeUndefined();
    expect(
      createUsageMeter({ contentType: "application/json", finishReason: "SUCCESS" }).end(),
    ).toBeUndefined();
  });

  it("takes the last of the growing totals of a Gemini stream, however it is cut", () => {
    for (let cut = 0; cut <= gemini.length; cut++) {
      const meter = createUsageMeter({ contentType: "text/event-stream; charset=utf-8" });
      meter.push(bytes(gemini.slice(0, cut)));
      meter.push(bytes(gemini.slice(cut)));
      expect(meter.end()).toMatchObject({ promptTokens: 5, completionTokens: 8, totalTokens: 13 });
    }
  });

  it("reads a JSON body that came in pieces, and an array of Gemini replies", () => {
    const meter = createUsageMeter({ contentType: "application/json" });
    meter.push(bytes('[{"usageMetadata":{"promptTokenCount":1}},{"usageMeta'));
    meter.push(bytes('data":{"promptTokenCount":5,"candidatesTokenCount":8}}]'));
    expect(meter.end()).toMatchObject({ totalTokens: 13 });
  });

  it("has no usage for what it cannot read, and does not fail", () => {
    for (const type of ["application/json", "text/event-stream", "audio/wav", undefined]) {
      const meter = createUsageMeter({ contentType: type });
      meter.push(bytes('{"usage":{"prompt_tokens":1,'));
      expect(meter.end()).toBeUndefined();
    }
  });

  it("reads the usage of a reply of any size, and keeps the beginning of long texts", () => {
    const meter = createUsageMeter({ contentType: "application/json" });
    const numbers = Array.from({ length: 200_000 }, (_, index) => index / 7).join(",");
    const long = `${"x".repeat(9 * 1024 * 1024)}\\"\\\\`;
    meter.push(bytes(`{"a":"${long}","e":[${numbers},"t",{"b":[${numbers}]}],`));
    meter.push(bytes(`"usage":{"prompt_tokens":1,"completion_tokens":1}}`));
    expect(meter.end()).toMatchObject({ promptTokens: 1, completionTokens: 1 });
  });
});
