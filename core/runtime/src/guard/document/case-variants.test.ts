import { describe, expect, it } from "vitest";
import type { JsonObject } from "@sluice/contract";
import { caseVariant } from "./case-variants.ts";
import { MEMBERS } from "@sluice/kit/internals";

const tool = (more: JsonObject): JsonObject => ({
  tools: [{ type: "function", function: { name: "f", ...more } }],
});

describe("a member that differs only by case", () => {
  it.each<[JsonObject, (string | number)[], string]>([
    [{ Model: "x" }, ["Model"], "model"],
    [{ meſſages: [] }, ["me\u017f\u017fages"], "messages"],
    [{ messages: [{ role: "user", CONTENT: "x" }] }, ["messages", 0, "CONTENT"], "content"],
    [{ messages: [{ content: [{ Text: "x" }] }] }, ["messages", 0, "content", 0, "Text"], "text"],
    [
      { contents: [{ parts: [{ inlinedata: {} }] }] },
      ["contents", 0, "parts", 0, "inlinedata"],
      "inlineData",
    ],
    [{ "top_\u212a": 1 }, ["top_\u212a"], "top_k"],
    [tool({ Parameters: {} }), ["tools", 0, "function", "Parameters"], "parameters"],
  ])("is found: %j", (body, path, known) => {
    expect(caseVariant(body)).toEqual({ path, known });
  });

  it.each<JsonObject>([
    { messages: [{ role: "user", content: "x" }], model: "m", top_k: 1, topK: 1 },
    { metadata: { Model: "x", Messages: [] } },
    tool({ parameters: { type: "object", properties: { Type: {}, Model: {} }, Required: [] } }),
    { messages: [{ content: [{ type: "tool_use", input: { Text: "x" } }] }] },
    {
      contents: [
        {
          parts: [
            { functionCall: { args: { Role: "x" } } },
            { functionResponse: { response: { Parts: 1 } } },
          ],
        },
      ],
    },
    { response_format: { type: "json_schema", json_schema: { name: "n", schema: { Type: "x" } } } },
    { Novel: 1, "x-Model": 2 },
    { constructor: 1, toString: 2 } as never,
  ])("is none where the dialect has no such member, or names are the client's own: %j", (body) => {
    expect(caseVariant(body)).toBeUndefined();
  });

  it("ends on bodies of any depth", () => {
    let body: JsonObject = {};
    for (let depth = 0; depth < 50_000; depth++) body = { content: body };
    expect(caseVariant(body)).toBeUndefined();
  });
});

describe("the names of a place", () => {
  it("are different when they are folded: none refuses another", () => {
    for (const [place, members] of Object.entries(MEMBERS)) {
      const names = Object.keys(members);
      expect([place, new Set(names.map((name) => name.toLowerCase())).size]).toEqual([
        place,
        names.length,
      ]);
    }
  });
});
