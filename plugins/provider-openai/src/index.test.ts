import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import {
  type EncodedCall,
  type JsonDocument,
  type ProviderRequest,
  Secret,
} from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { bodyText, fakeHost, fakeTarget } from "@sluice/testing";
import openai from "./index.ts";

const KEY = "sk-test-1234567890";
const config = {
  api_key: new Secret("OPENAI_API_KEY", KEY),
  base_url: "https://api.openai.com/v1",
  embedding_formats: ["float", "base64"],
} as const;
const provider = openai.create(config, fakeHost());
const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../../test/fixtures/openai", name), "utf8");

function request(document: JsonDocument, stream = false): ProviderRequest {
  const target = fakeTarget("openai", "gpt-4o-mini");
  return {
    operation: "chat",
    document,
    target,
    replyModel: "alias",
    stream,
    replyId: "chatcmpl-1",
    createdSeconds: 0,
  };
}

function call(
  made = provider,
  document = documentOf('{"model":"alias","messages":[]}'),
  stream = false,
): EncodedCall {
  const encoded = made.encode(request(document, stream));
  if (encoded.kind !== "http") throw new Error("OpenAI is on the network.");
  return encoded;
}

describe("a call", () => {
  it("goes to the chat endpoint with the key, which is a secret until it is written", () => {
    const { method, url, headers, body } = call();
    expect({ method, url, body: bodyText(body) }).toEqual({
      method: "POST",
      url: "https://api.openai.com/v1/chat/completions",
      body: '{"model":"gpt-4o-mini","messages":[]}',
    });
    expect(Object.keys(headers)).toEqual(["content-type", "authorization"]);
    expect((headers.authorization as Secret).reveal()).toBe(`Bearer ${KEY}`);
    expect(inspect({ headers, provider }, { depth: 10 }) + JSON.stringify(headers)).not.toContain(
      KEY,
    );
  });

  it("names organisation and project where they are set", () => {
    const made = openai.create(
      { ...config, organization: "org-a", project: "proj_b", base_url: "http://127.0.0.1:1/x" },
      fakeHost(),
    );
    expect(call(made)).toMatchObject({
      url: "http://127.0.0.1:1/x/chat/completions",
      headers: { "openai-organization": "org-a", "openai-project": "proj_b" },
    });
  });

  it("keeps the digits of a 64-bit seed", () => {
    const text = fixture("request-whole.json");
    expect(bodyText(call(provider, documentOf(text)).body)).toContain("-9007199254740993");
  });

  it("asks for usage on a stream", () => {
    const { body } = call(provider, documentOf(fixture("request-stream.json")), true);
    expect(JSON.parse(bodyText(body))).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });
});

describe("a reply", () => {
  it("keeps unknown fields, digit by digit", () => {
    const text = fixture("chat-unknown-fields.json");
    const { document } = provider.decode(Buffer.from(text), request(documentOf("{}")));
    expect(String(document.bytes).replace('"alias"', "")).toBe(
      text.replace(`"${(JSON.parse(text) as { model: string }).model}"`, ""),
    );
  });

  it.each([
    ["error-400.json", 400, "upstream_rejected"],
    ["error-400-context.json", 400, "context_length_exceeded"],
    ["error-400-content-policy.json", 400, "content_policy_violation"],
    ["error-401.json", 401, "upstream_auth_failed"],
    ["error-403.json", 403, "upstream_model_denied"],
    ["error-404.json", 404, "upstream_rejected"],
    ["error-429.json", 429, "upstream_rate_limited"],
    ["error-429-quota.json", 429, "upstream_rate_limited"],
    ["error-500.json", 500, "upstream_failed"],
    ["error-503.json", 503, "upstream_overloaded"],
  ])("of %s becomes %i %s", (name, status, code) => {
    expect(provider.error({ status, headers: {}, body: fixture(name) })).toMatchObject({ code });
  });

  it("that is a spent quota is not worth another try", () => {
    expect(
      provider.error({ status: 429, headers: {}, body: fixture("error-429-quota.json") }).retryable,
    ).toBe(false);
    expect(
      provider.error({ status: 429, headers: {}, body: fixture("error-429.json") }).retryable,
    ).toBe(true);
  });
});

describe("the other operations", () => {
  const asked = (
    operation: "embeddings" | "images" | "models",
    body: string,
    model = "m",
    made = provider,
  ) => {
    const encoded = made.encode({
      ...request(documentOf(body)),
      operation,
      target: fakeTarget("openai", model),
    });
    return encoded.kind === "http" ? { url: encoded.url, body: bodyText(encoded.body) } : undefined;
  };

  it("have paths of their own, and keep what the client sent", () => {
    expect(asked("embeddings", '{"model":"alias","input":[[1,2]],"x":1.50}')).toEqual({
      url: "https://api.openai.com/v1/embeddings",
      body: '{"model":"m","input":[[1,2]],"x":1.50}',
    });
    expect(asked("images", '{"model":"alias","prompt":"A gate.","n":2}', "dall-e-2")).toEqual({
      url: "https://api.openai.com/v1/images/generations",
      body: '{"model":"dall-e-2","prompt":"A gate.","n":2}',
    });
  });

  it("ask for no format that the upstream does not take", () => {
    const floats = openai.create({ ...config, embedding_formats: ["float"] }, fakeHost());
    expect(
      asked("embeddings", '{"model":"a","input":"x","encoding_format":"base64"}', "m", floats)
        ?.body,
    ).toBe('{"model":"m","input":"x"}');
  });

  it("say how many images a call makes", () => {
    const { imagesPerCall } = provider.capabilities;
    expect(imagesPerCall?.("dall-e-3")).toBe(1);
    expect(imagesPerCall?.("gpt-image-1")).toBe(Infinity);
  });

  it("are refused where there is none", () => {
    expect(() => asked("models", "{}")).toThrow(
      expect.objectContaining({ code: "unsupported_parameter" }) as Error,
    );
  });
});

describe("the options", () => {
  const { properties } = openai.config as {
    properties: { base_url: { pattern: string }; api_key: object };
  };
  const pattern = new RegExp(properties.base_url.pattern);

  it.each(["https://api.openai.com/v1", "http://127.0.0.1:8000", "https://host/a/b"])(
    "take the base URL %s",
    (url) => {
      expect(url).toMatch(pattern);
    },
  );

  it.each([
    "https://host/v1/",
    "ftp://host",
    "host/v1",
    "https://host/v1?x=1",
    "https://host/#a",
    "",
  ])("refuse the base URL %j", (url) => {
    expect(url).not.toMatch(pattern);
  });

  it("mark the key as a secret", () => {
    expect(properties.api_key).toMatchObject({ "x-secret": true });
  });
});
