import { describe, expect, it } from "vitest";
import type { Capabilities, JsonObject } from "@sluice/contract";
import { writtenDocument } from "@sluice/kit/internals";
import { PARAMETERS } from "@sluice/kit/openai";
import { FIELD_RULES } from "@sluice/kit/internals";
import { settleFields } from "./settle-fields.ts";

const TOOLS = ["a", "b"].map((name) => ({ type: "function", function: { name } }));

function settle(body: JsonObject, capabilities: Partial<Capabilities> = {}, isDropping = false) {
  const all: Capabilities = { operations: ["chat"], streaming: true, tools: true, ...capabilities };
  const terms = {
    operation: "chat",
    provider: "p",
    capabilities: all,
    model: "m",
    isDropping,
  } as const;
  const { document, dropped, rules } = settleFields(writtenDocument(body), terms);
  return { body: document.value, dropped, rules };
}

describe("the table of fields", () => {
  it.each(["chat", "embeddings", "images"] as const)(
    "has every optional parameter of %s, and the end user",
    (operation) => {
      expect(Object.keys(FIELD_RULES[operation] ?? {}).toSorted()).toEqual(
        [...(PARAMETERS[operation] ?? []), "user"].toSorted(),
      );
    },
  );
});

describe("a request for a provider that takes every field", () => {
  it("stays the same document, defaults included", () => {
    const document = writtenDocument({
      model: "m",
      n: 1,
      top_p: 1,
      service_tier: "auto",
      web_search_options: {},
      tools: TOOLS,
    });
    const capabilities: Capabilities = { operations: ["chat"], streaming: true, tools: true };
    const terms = {
      operation: "chat",
      provider: "p",
      capabilities,
      model: "m",
      isDropping: false,
    } as const;
    expect(settleFields(document, terms)).toEqual({ document, dropped: [] });
    expect(settleFields(document, terms).document).toBe(document);
  });
});

describe("a request for a provider with few fields", () => {
  const few = { parameters: ["temperature", "tools"] };

  it("loses defaults in silence and hints with a notice", () => {
    const { body, dropped } = settle(
      { n: 1, verbosity: "medium", seed: 1, store: true, temperature: 1 },
      few,
    );
    expect([body, dropped]).toEqual([{ temperature: 1 }, ["seed", "store"]]);
  });

  it("loses a demand that the client sends to every model, and refuses the others", () => {
    const terms = {
      operation: "chat",
      provider: "p",
      capabilities: { operations: ["chat"], streaming: true, tools: true, ...few },
      model: "m",
      isDropping: false,
      hints: ["thinking"],
    } as const;
    const thinking = { type: "adaptive" };
    expect(settleFields(writtenDocument({ thinking }), terms)).toMatchObject({
      document: { value: {} },
      dropped: ["thinking"],
    });
    const logprobs = writtenDocument({ thinking, logprobs: true });
    expect(() => settleFields(logprobs, terms)).toThrow(
      expect.objectContaining({ param: "logprobs" }),
    );
  });

  it("loses what belongs to a field with it", () => {
    const asked = {
      logprobs: true,
      top_logprobs: 2,
      modalities: ["text", "audio"],
      audio: { voice: "x" },
    };
    expect(() => settle(asked, few)).toThrow(expect.objectContaining({ param: "logprobs" }));
    expect(settle(asked, few, true)).toMatchObject({ body: {}, dropped: Object.keys(asked) });
  });

  it("has tools only as far as they may be used", () => {
    const without = { tools: false };
    expect(settle({ tools: TOOLS, tool_choice: "none" }, without)).toMatchObject({
      body: {},
      dropped: [],
    });
    expect(() => settle({ tools: TOOLS }, without)).toThrow(
      expect.objectContaining({ param: "tools" }),
    );
    const allowed = {
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [TOOLS[0] as JsonObject] },
    };
    expect(settle({ tools: TOOLS, tool_choice: allowed }, few)).toMatchObject({
      body: { tools: [TOOLS[0]] },
      dropped: [],
    });
    expect(() =>
      settle({ tools: TOOLS, tool_choice: { type: "function", function: { name: "c" } } }, few),
    ).toThrow(expect.objectContaining({ param: "tool_choice" }));
  });

  it("has its reply cut where one call was asked for", () => {
    const asked = { tools: TOOLS, parallel_tool_calls: false };
    expect(settle(asked, few)).toEqual({
      body: { tools: TOOLS },
      dropped: ["parallel_tool_calls"],
      rules: { firstCallOnly: true },
    });
    const named = { ...asked, tool_choice: { type: "function", function: { name: "a" } } };
    expect(settle(named, few)).toMatchObject({
      dropped: ["tool_choice"],
      rules: { firstCallOnly: true },
    });
    expect(settle({ ...asked, tool_choice: "none" }, few).rules).toBeUndefined();
  });
});

describe("a model with traits", () => {
  it("takes its own list of fields, and numbers within its ranges", () => {
    const traits = () => ({
      parameters: ["temperature"],
      ranges: { temperature: [0, 1] as const },
    });
    const { body, dropped } = settle(
      { temperature: 1.5, seed: 1 },
      { parameters: ["temperature", "seed"], traits },
    );
    expect([body, dropped]).toEqual([{ temperature: 1 }, ["temperature", "seed"]]);
    expect(settle({ temperature: 0.5 }, { traits }).dropped).toEqual([]);
  });
});
