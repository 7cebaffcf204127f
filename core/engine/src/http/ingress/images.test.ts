import { describe, expect, it } from "vitest";
import { documentOf } from "@sluice/kit";
import { fakeClient } from "@sluice/testing";
import { receiveImages } from "./images.ts";

const receive = (body: object) =>
  receiveImages(
    documentOf(JSON.stringify({ model: "m", prompt: "A gate.", ...body })),
    fakeClient(),
  );

describe("an image request", () => {
  it("keeps every field of the reference API, and unknown fields", () => {
    const fields = {
      n: 2,
      size: "1024x1536",
      quality: "high",
      style: "vivid",
      response_format: "b64_json",
      background: "transparent",
      output_format: "webp",
      output_compression: 0,
      moderation: "low",
      user: "alice",
      x_unknown: { a: 1 },
    };
    const request = receive(fields);
    expect(request.document.value).toEqual({ model: "m", prompt: "A gate.", ...fields });
    expect(request).toMatchObject({ model: "m", stream: false, endUser: "alice" });
  });

  it("takes null for every optional field", () => {
    const names = [
      "n",
      "size",
      "quality",
      "style",
      "response_format",
      "background",
      "output_format",
      "output_compression",
    ];
    expect(receive(Object.fromEntries(names.map((name) => [name, null]))).model).toBe("m");
  });

  it("loses the gateway's own fields", () => {
    expect(receive({ timeout: 30, caching: false, tags: ["t"], metadata: {} }).document.bytes).toBe(
      '{"model":"m","prompt":"A gate."}',
    );
  });

  it.each<[string, object]>([
    ["model", { model: undefined }],
    ["prompt", { prompt: undefined }],
    ["prompt", { prompt: "" }],
    ["prompt", { prompt: ["A gate."] }],
    ["n", { n: 0 }],
    ["n", { n: 1.5 }],
    ["n", { n: "2" }],
    ["size", { size: 1024 }],
    ["quality", { quality: 1 }],
    ["style", { style: {} }],
    ["response_format", { response_format: "png" }],
    ["background", { background: true }],
    ["output_format", { output_format: 1 }],
    ["output_compression", { output_compression: 101 }],
    ["moderation", { moderation: 1 }],
    ["user", { user: 7 }],
  ])("is refused for its %s: %j", (param, body) => {
    expect(() => receive(body)).toThrow(
      expect.objectContaining({ code: "invalid_field", param }) as Error,
    );
  });
});
