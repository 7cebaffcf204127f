import { describe, expect, it } from "vitest";
import type { JsonObject, ProviderRequest } from "@sluice/contract";
import { documentOf } from "../json/document.ts";
import { decodeImages, encodeImages } from "./images.ts";

function request(body: JsonObject, model = "dall-e-3"): ProviderRequest {
  return {
    operation: "images",
    document: documentOf(JSON.stringify({ model: "alias", prompt: "A gate.", ...body })),
    target: { id: `openai/${model}`, provider: "openai", model },
    replyModel: "alias",
    stream: false,
    replyId: "x",
    createdSeconds: 7,
  };
}

const decode = (body: JsonObject | string, asked: JsonObject = {}, model?: string) =>
  decodeImages(
    Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    request(asked, model),
  );
const refused = (code: string, param?: string): Error =>
  expect.objectContaining({ code, ...(param === undefined ? {} : { param }) }) as Error;

describe("encodeImages", () => {
  it("names the target's model", () => {
    const body = { n: 2, size: "1024x1024", response_format: "url" };
    expect(encodeImages(request(body)).value).toEqual({
      model: "dall-e-3",
      prompt: "A gate.",
      ...body,
    });
  });

  it.each(["gpt-image-1", "gpt-image-1-mini", "gpt-image-1.5", "chatgpt-image-latest"])(
    "asks %s for no format",
    (model) => {
      expect(encodeImages(request({ response_format: "b64_json" }, model)).value).toEqual({
        model,
        prompt: "A gate.",
      });
      expect(() => encodeImages(request({ response_format: "url" }, model))).toThrow(
        refused("unsupported_parameter", "response_format"),
      );
    },
  );
});

describe("decodeImages", () => {
  it("hands on the upstream's own bytes", () => {
    const body = Buffer.from(
      '{"created":5, "data":[{"b64_json":"QUJD"},{"url":"https://x/y","revised_prompt":"b64_json"}]}',
    );
    const { document } = decodeImages(body, request({}));
    expect((document.bytes as Buffer).buffer).toBe(body.buffer);
    expect(document.bytes).toEqual(body);
  });

  it.each(['{"data":[{"b64_json":"QUJD"}]}', '{"created":null,"data":[{"b64_json":"QUJD"}]}'])(
    "fills in when %s was created",
    (text) => {
      expect(decode(text).document.value).toEqual({ created: 7, data: [{ b64_json: "QUJD" }] });
    },
  );

  it("names the model by the client's word where the upstream names one", () => {
    const { document } = decode({ data: [{ b64_json: "QUJD" }], model: "dall-e-3" });
    expect(document.value).toEqual({ created: 7, data: [{ b64_json: "QUJD" }], model: "alias" });
  });

  it("counts images, with the size and quality that were asked for", () => {
    const data = [{ url: "https://x/1" }, { url: "https://x/2" }];
    expect(decode({ created: 1, data }, { size: "1024x1792", quality: "hd", n: 2 }).usage).toEqual({
      promptTokens: 0,
      completionTokens: 0,
      totalTokens: 0,
      images: { count: 2, size: "1024x1792", quality: "hd" },
    });
    expect(decode({ created: 1, data }).usage?.images).toEqual({ count: 2 });
  });

  it("reads tokens, and what the upstream chose", () => {
    const usage = {
      input_tokens: 50,
      output_tokens: 272,
      total_tokens: 322,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
    };
    const reply = {
      created: 1,
      data: [{ b64_json: "QUJD" }],
      usage,
      size: "1024x1024",
      quality: "low",
    };
    expect(decode(reply, { size: "auto", quality: "auto" }, "gpt-image-1").usage).toEqual({
      promptTokens: 50,
      completionTokens: 272,
      totalTokens: 322,
      imagePromptTokens: 40,
      imageCompletionTokens: 272,
      images: { count: 1, size: "1024x1024", quality: "low" },
    });
  });

  it.each([
    ["no JSON", "<html>"],
    ["JSON that is cut in an image", '{"created":1,"data":[{"b64_json":"QUJD'],
    ["JSON that is cut behind the images", '{"created":1,"data":[{"b64_json":"QUJD"}]'],
    ["no data", '{"created":1}'],
    ["no images", '{"created":1,"data":[]}'],
    [
      "an item that is neither",
      '{"created":1,"data":[{"b64_json":"QUJD"},{"revised_prompt":"x"}]}',
    ],
    ["an item that is null", '{"created":1,"data":[null]}'],
  ])("refuses %s", (_name, text) => {
    expect(() => decode(text)).toThrow(refused("upstream_invalid_response"));
  });

  it("throws the error that a 200 carries inside", () => {
    expect(() =>
      decode({
        error: { message: "no", type: "invalid_request_error", code: "content_policy_violation" },
      }),
    ).toThrow(refused("content_policy_violation"));
  });
});
