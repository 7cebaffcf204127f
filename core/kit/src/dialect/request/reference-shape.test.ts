import { describe, expect, it } from "vitest";
import { mapNames } from "./names.ts";
import {
  dataUrlOf,
  functionCall,
  functionTool,
  mediaText,
  textOrBlocks,
} from "./reference-shape.ts";
import { offeredTools, type ToolDefinition } from "./tools.ts";

const names = mapNames(["now", "größe"], { character: /[a-z]/, maxLength: 20 });
const nameUpstream = names.toUpstream("größe");
const id = { character: /[a-z0-9]/, maxLength: 9, exactLength: true };
const call = {
  kind: "call",
  path: "p",
  id: "call_1",
  name: "größe",
  arguments: '{"a": 1}',
  input: { a: 1 },
} as const;

describe("in the reference dialect's shape", () => {
  it("a tool has the provider's name for it, and nothing that was not said", () => {
    const tool = {
      name: "größe",
      description: undefined,
      schema: { type: "object" },
      strict: true,
    };
    expect(functionTool(tool, names)).toEqual({
      type: "function",
      function: { name: nameUpstream, strict: true, parameters: { type: "object" } },
    });
  });

  it("a call keeps its arguments byte for byte, and tells of those that are none", () => {
    const made = functionCall(call, names, id);
    expect(made).toEqual({
      id: expect.stringMatching(/^[a-z0-9]{9}$/) as string,
      type: "function",
      function: { name: nameUpstream, arguments: '{"a": 1}' },
    });
    const odd = { ...call, arguments: "{", input: { invalid_arguments: "{" } };
    expect(functionCall(odd, names, id)).toMatchObject({
      function: { arguments: '{"invalid_arguments":"{"}' },
    });
    expect(functionCall({ ...call, arguments: " ", input: {} }, names, id)).toMatchObject({
      function: { arguments: "{}" },
    });
  });

  it("one text is a text, all else are blocks", () => {
    const block = { type: "text", text: "a" };
    expect(textOrBlocks([])).toBe("");
    expect(textOrBlocks([block])).toBe("a");
    expect(textOrBlocks([block, block])).toEqual([block, block]);
    expect(textOrBlocks([{ type: "image", text: "a" }])).toEqual([{ type: "image", text: "a" }]);
  });
});

it("a medium is a text where its type says so", () => {
  const data = Buffer.from("Grüße").toString("base64");
  expect(mediaText({ kind: "text", text: "a" })).toBe("a");
  expect(mediaText({ kind: "data", mimeType: "text/csv", data })).toBe("Grüße");
  expect(mediaText({ kind: "data", mimeType: "image/png", data })).toBeUndefined();
  expect(mediaText({ kind: "url", url: "https://a/" })).toBeUndefined();
  expect(dataUrlOf({ kind: "data", mimeType: "image/png", data: "AAAA" })).toBe(
    "data:image/png;base64,AAAA",
  );
});

describe("tools for a dialect without a choice among several", () => {
  const tool = (name: string) =>
    ({ kind: "function", name, path: "", schemaPath: "", schema: {} }) as unknown as ToolDefinition;
  const native = { kind: "native", path: "", value: { type: "search" } } as const;
  const tools = [tool("a"), native, tool("b")];

  it("are those that are allowed, and the provider's own", () => {
    const choice = { mode: "allowed", names: ["b"], isRequired: true } as const;
    expect(offeredTools({ tools, choice, parallel: undefined })).toEqual({
      tools: [native, tool("b")],
      choice: { mode: "required" },
    });
    expect(
      offeredTools({ tools, choice: { ...choice, isRequired: false }, parallel: true }).choice,
    ).toEqual({ mode: "auto" });
  });

  it("are all where no choice, or another one, is made", () => {
    for (const choice of [undefined, { mode: "none" }, { mode: "named", name: "a" }] as const) {
      expect(offeredTools({ tools, choice, parallel: undefined })).toEqual({ tools, choice });
    }
  });
});
