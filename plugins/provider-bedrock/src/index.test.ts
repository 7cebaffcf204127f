import { Buffer } from "node:buffer";
import { bodyText, makeProvider, requestOf } from "@sluice/testing";
import { Secret } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import bedrock from "./index.ts";
import { baseModel } from "./models.ts";

const options = { region: "eu-west-1", api_key: "k" };
const provider = makeProvider(bedrock, options);

describe("Bedrock", () => {
  it("reads tokens of embeddings from a header where the body has none", () => {
    const request = requestOf(
      { model: "m", input: ["a"] },
      {
        provider: "bedrock",
        model: "cohere.embed-english-v3",
        operation: "embeddings",
        stream: false,
      },
    );
    const made = provider.decode(Buffer.from('{"embeddings":[[1]]}'), request, {
      "x-amzn-bedrock-input-token-count": "4",
    });
    expect(made.usage).toMatchObject({ promptTokens: 4, completionTokens: 0 });
    expect(made.document.value).toMatchObject({ usage: { prompt_tokens: 4, total_tokens: 4 } });
  });

  it("hands metadata on where the target takes it, texts alone", () => {
    const request = requestOf(
      {
        model: "m",
        messages: [{ role: "user", content: "Hi." }],
        metadata: { team: "a", size: 4 },
      },
      { provider: "bedrock", model: "amazon.nova-pro-v1:0", operation: "chat", stream: false },
    );
    const bodyOf = (forwardMetadata: boolean): unknown => {
      const call = provider.encode({ ...request, target: { ...request.target, forwardMetadata } });
      return call.kind === "http" ? JSON.parse(bodyText(call.body)) : undefined;
    };
    expect(bodyOf(true)).toMatchObject({ requestMetadata: { team: "a" } });
    expect(bodyOf(false)).not.toHaveProperty("requestMetadata");
  });

  it("gives native requests its own address and credential", () => {
    const call = provider.passthrough?.({
      method: "POST",
      endpoint: "model/amazon.nova-pro-v1%3A0/converse",
      query: "",
      headers: { "content-type": "application/json", authorization: "Bearer theirs" },
      body: undefined,
    });
    expect(call?.url).toBe(
      "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse",
    );
    const authorization = call?.headers.authorization;
    expect(authorization instanceof Secret ? authorization.reveal() : undefined).toBe("Bearer k");
    expect(provider.authorize).toBeUndefined();
  });

  it("signs when it has keys", () => {
    const signed = makeProvider(bedrock, {
      region: "eu-west-1",
      access_key_id: "a",
      secret_access_key: "b",
    });
    expect(signed.authorize).toBeDefined();
  });

  it.each([
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", true, true],
    ["anthropic.claude-3-haiku-20240307-v1:0", true, false],
    ["anthropic.claude-sonnet-4-20250514-v1:0", true, false],
    ["global.anthropic.claude-opus-4-5-20251101-v1:0", true, true],
    ["amazon.nova-micro-v1:0", false, false],
    ["meta.llama3-1-8b-instruct-v1:0", undefined, undefined],
  ])("knows whether %s sees and keeps to a schema", (model, images, schema) => {
    const { supports } = provider.capabilities;
    expect([supports?.("images", model), supports?.("schema", model)]).toEqual([images, schema]);
    expect(supports?.("speech", model)).toBe(false);
  });

  it.each([
    ["us.amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0"],
    ["us-gov.anthropic.claude-3-haiku", "anthropic.claude-3-haiku"],
    ["arn:aws:bedrock:us-east-1:1:inference-profile/eu.meta.llama3", "meta.llama3"],
    ["arn:aws:bedrock:us-east-1::foundation-model/cohere.embed-v4:0", "cohere.embed-v4:0"],
    ["qwen.qwen3-32b-v1:0", "qwen.qwen3-32b-v1:0"],
  ])("%s is %s", (id, base) => expect(baseModel(id)).toBe(base));
});
