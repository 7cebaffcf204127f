import { type EncodedCall, type JsonObject, type ProviderRequest, Secret } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { bodyText, fakeHost } from "@sluice/testing";
import { describe, expect, it } from "vitest";
import { gemini } from "./gemini.ts";

const provider = gemini.create(
  { api_key: new Secret("api_key", "k"), base_url: "https://x", version: "v1beta" },
  fakeHost(),
);
const TRANSLATED = { model: "m", messages: [{ role: "user", content: "translated" }] };

function request(
  body: JsonObject,
  { model = "gemini-3-flash", stream = false, translated = TRANSLATED as JsonObject } = {},
): ProviderRequest {
  const native = {
    dialect: "google",
    document: documentOf(JSON.stringify(body)),
    headers: {},
  };
  return {
    operation: "chat",
    document: documentOf(JSON.stringify(translated)),
    native,
    target: { id: `google/${model}`, provider: "google", model },
    replyModel: "m",
    stream,
    replyId: "chatcmpl-1",
    createdSeconds: 1,
  };
}

function sent(...given: Parameters<typeof request>): [string, JsonObject] {
  const { url, body } = provider.encode(request(...given)) as EncodedCall;
  return [url, JSON.parse(bodyText(body)) as JsonObject];
}

const HI = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] };
const call = (more: JsonObject = {}): JsonObject => ({
  contents: [
    { role: "user", parts: [{ text: "Hi" }] },
    { role: "model", parts: [{ functionCall: { name: "f", args: {} }, ...more }] },
  ],
});
const isNative = ([, body]: [string, JsonObject]): boolean =>
  !JSON.stringify(body).includes("translated");

describe("a request of a client of the API", () => {
  it("is sent as it came, under the model of the target", () => {
    const body = { ...HI, cachedContent: "cachedContents/1", xNew: [1] };
    expect(sent({ model: "models/alias", ...body })).toEqual([
      "https://x/v1beta/models/gemini-3-flash:generateContent",
      body,
    ]);
    expect(sent(HI, { stream: true })[0]).toBe(
      "https://x/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse",
    );
  });

  it("keeps its bytes", () => {
    const text = '{ "contents" : [ {"parts":[{"text":"Hi"}]} ], "labels":{"a":1e400} }';
    const asked = request(HI);
    const native = { dialect: "google", document: documentOf(text), headers: {} };
    expect(bodyText((provider.encode({ ...asked, native }) as EncodedCall).body)).toBe(text);
  });

  it("is translated where the model would miss a signature", () => {
    expect(isNative(sent(call({ thoughtSignature: "c2ln" })))).toBe(true);
    expect(isNative(sent(call({ thought_signature: "c2ln" })))).toBe(true);
    expect(isNative(sent(call()))).toBe(false);
    expect(isNative(sent(call(), { model: "gemini-2.5-flash" }))).toBe(true);
    const packed = Buffer.from("sluice/1:{}").toString("base64");
    for (const model of ["gemini-3-flash", "gemini-2.5-flash"])
      expect(isNative(sent(call({ thoughtSignature: packed }), { model }))).toBe(false);
  });

  it("gets its calls whole", () => {
    const calling = { mode: "AUTO", streamFunctionCallArguments: true };
    const [, body] = sent({ ...HI, toolConfig: { functionCallingConfig: calling } });
    expect(body).toEqual({ ...HI, toolConfig: { functionCallingConfig: { mode: "AUTO" } } });
    const snake = { mode: "AUTO", stream_function_call_arguments: true };
    expect(sent({ ...HI, tool_config: { function_calling_config: snake } })[1]).toEqual({
      ...HI,
      tool_config: { function_calling_config: { mode: "AUTO" } },
    });
  });

  it("is refused for several candidates on a stream", () => {
    const translated = { ...TRANSLATED, n: 2 };
    expect(() => sent(HI, { stream: true, translated })).toThrow(/more than one choice/);
    expect(isNative(sent(HI, { translated }))).toBe(true);
  });
});
