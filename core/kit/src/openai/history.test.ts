import { describe, expect, it } from "vitest";
import type { JsonObject } from "@sluice/contract";
import { documentOf } from "../json/document.ts";
import { adaptHistory, adaptMessage, type HistoryRules } from "./history.ts";

const adapt = (message: JsonObject, rules: HistoryRules): readonly JsonObject[] =>
  adaptMessage(message, rules);

describe("a message of an earlier turn", () => {
  it("keeps its bytes where nothing is to be changed", () => {
    const document = documentOf(
      '{"model":"m","messages":[{"role":"user","content":"x","seed":9007199254740993}]}',
    );
    expect(adaptHistory(document, { isStrict: true, maxIdCharacters: 40 })).toBe(document);
    expect(adaptHistory(documentOf('{"messages":"x"}'), { isStrict: true }).bytes).toBe(
      '{"messages":"x"}',
    );
  });

  it("loses members of the gateway's making, but for those that the upstream takes", () => {
    const message = {
      role: "assistant",
      content: "x",
      reasoning_content: "r",
      thinking_blocks: [],
      tool_calls: [
        { id: "c", type: "function", function: { name: "f", arguments: "{}" }, extra_content: {} },
      ],
    };
    const [strict] = adapt(message, { isStrict: true });
    expect(strict).toEqual({
      role: "assistant",
      content: "x",
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
    });
    expect(adapt(message, { isStrict: true, takes: ["reasoning_content"] })[0]).toMatchObject({
      reasoning_content: "r",
    });
    expect(adapt(message, {})[0]).toBe(message);
  });

  it("has the same short id in its call and its result, and another one for another id", () => {
    const rules = { maxIdCharacters: 40 };
    const ids = ["a", "b"].map((end) => `chatcmpl-tool-${"0".repeat(40)}${end}`);
    const short = ids.map((id) => {
      const [call] = adapt({ role: "assistant", tool_calls: [{ id, type: "function" }] }, rules);
      const [result] = adapt({ role: "tool", tool_call_id: id, content: "" }, rules);
      const [made] = (call?.tool_calls ?? []) as { id: string }[];
      expect(result?.tool_call_id).toBe(made?.id);
      return made?.id ?? "";
    });
    expect(new Set(short).size).toBe(2);
    expect(short.every((id) => id.length <= 40)).toBe(true);
    // What was shortened once stays as it is.
    expect(
      adapt({ role: "tool", tool_call_id: short[0] ?? "", content: "" }, rules)[0]?.tool_call_id,
    ).toBe(short[0]);
  });

  it("is left out when it says nothing, and stays where another part of the conversation needs it", () => {
    const rules = { refusesEmptyContent: true } as const;
    for (const role of ["system", "user", "assistant"])
      expect(adapt({ role, content: [] }, rules)).toEqual([]);
    expect(adapt({ role: "tool", tool_call_id: "c", content: [] }, rules)).toEqual([
      { role: "tool", tool_call_id: "c", content: "" },
    ]);
    const calls = [{ id: "c" }];
    expect(adapt({ role: "assistant", content: [], tool_calls: calls }, rules)).toEqual([
      { role: "assistant", content: null, tool_calls: calls },
    ]);
    expect(adapt({ role: "assistant", content: [], tool_calls: [] }, rules)).toEqual([]);
  });
});
