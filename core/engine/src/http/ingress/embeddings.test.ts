import { describe, expect, it } from "vitest";
import type { JsonValue } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { fakeClient } from "@sluice/testing";
import { receiveEmbeddings } from "./embeddings.ts";

const receive = (body: object) =>
  receiveEmbeddings(documentOf(JSON.stringify({ model: "m", ...body })), fakeClient());
const fill = (count: number, item: JsonValue): JsonValue[] =>
  Array.from({ length: count }, () => item);

describe("an embeddings request", () => {
  it.each<[string, JsonValue]>([
    ["a text", "one"],
    ["texts", ["one", "two"]],
    ["2,048 texts", fill(2_048, "one")],
    ["tokens", [0, 1, 100_257]],
    ["more than 2,048 tokens", fill(8_191, 7)],
    ["arrays of tokens", [[1], [2, 3]]],
    ["2,048 arrays of tokens", fill(2_048, [1, 2])],
  ])("may hold %s", (_name, input) => {
    const request = receive({ input });
    expect(request.document.value).toEqual({ model: "m", input });
    expect(request).toMatchObject({ model: "m", stream: false, endUser: null });
  });

  it("may hold the optional fields, or null for them", () => {
    const fields = { encoding_format: "base64", dimensions: 256, user: "alice", x_unknown: [1] };
    expect(receive({ input: "a", ...fields })).toMatchObject({
      endUser: "alice",
      document: { value: fields },
    });
    receive({
      input: "a",
      encoding_format: null,
      dimensions: null,
      user: null,
      timeout: null,
      caching: null,
    });
  });

  it("loses the gateway's own fields, its timeout being the exchange's", () => {
    const request = receive({
      input: "a",
      timeout: 30,
      caching: true,
      metadata: { a: 1 },
      tags: ["t"],
      drop_params: true,
    });
    expect(request.document.bytes).toBe('{"model":"m","input":"a"}');
    expect(request).toMatchObject({
      timeoutMs: 30_000,
      tags: ["t"],
      metadata: { a: 1 },
      fields: { caching: true },
    });
  });

  it.each<[string, object, string]>([
    ["no model", { model: undefined, input: "a" }, "model"],
    ["an empty model", { model: "", input: "a" }, "model"],
    ["no input", {}, "input"],
    ["a null input", { input: null }, "input"],
    ["an empty text", { input: "" }, "input"],
    ["an empty array", { input: [] }, "input"],
    ["a number", { input: 7 }, "input"],
    ["an object", { input: { a: 1 } }, "input"],
    ["an empty text among others", { input: ["a", ""] }, "input[1]"],
    ["an empty token array", { input: [[1], []] }, "input[1]"],
    ["texts and tokens", { input: ["a", 1] }, "input[1]"],
    ["tokens and texts", { input: [1, "a"] }, "input[1]"],
    ["tokens and token arrays", { input: [1, [1]] }, "input[1]"],
    ["token arrays and texts", { input: [[1], "a"] }, "input[1]"],
    ["texts and nulls", { input: ["a", null] }, "input[1]"],
    ["objects", { input: [{ text: "a" }] }, "input[0]"],
    ["a negative token", { input: [1, -1] }, "input[1]"],
    ["half a token", { input: [[1, 1.5]] }, "input[0][1]"],
    ["2,049 inputs", { input: fill(2_049, "a") }, "input"],
    ["2,049 arrays of tokens", { input: fill(2_049, [1]) }, "input"],
    ["another encoding", { input: "a", encoding_format: "int8" }, "encoding_format"],
    ["an encoding that is no string", { input: "a", encoding_format: 1 }, "encoding_format"],
    ["no dimensions at all", { input: "a", dimensions: 0 }, "dimensions"],
    ["half a dimension", { input: "a", dimensions: 1.5 }, "dimensions"],
    ["a user that is no string", { input: "a", user: 7 }, "user"],
    ["a timeout that is no number", { input: "a", timeout: "x" }, "timeout"],
    ["caching that is no boolean", { input: "a", caching: "yes" }, "caching"],
  ])("is refused with %s", (_name, body, param) => {
    expect(() => receive(body)).toThrow(
      expect.objectContaining({ code: "invalid_field", param }) as Error,
    );
  });
});
