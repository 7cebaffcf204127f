import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { Stages } from "@sluice/kit";
import { compileFields } from "./body-fields.ts";
import { CHAT_BODY } from "./chat/chat.ts";
import { compileFieldStages } from "./field-stages.ts";

const checkAtOnce = compileFields(CHAT_BODY);
const checkInStages = compileFieldStages(CHAT_BODY);

/** The place and the words of a refusal; `undefined` for what is accepted. */
function refusal(check: () => unknown): unknown {
  try {
    check();
    return undefined;
  } catch (error) {
    const { param, message } = error as { readonly param: string; readonly message: string };
    return { param, message };
  }
}

const both = (body: JsonObject): readonly unknown[] => [
  refusal(() => checkAtOnce(body)),
  refusal(() => Stages.atOnce(checkInStages(body))),
];

const texts = (count: number): JsonValue[] =>
  Array.from({ length: count }, (_, at) => ({ type: "text", text: `${at}` }));
const turns = (count: number): JsonValue[] =>
  Array.from({ length: count }, (_, at) => ({ role: "user", content: `${at}` }));
/** A list with another item in one place. */
const withItem = (list: readonly JsonValue[], at: number, item: JsonValue): JsonValue[] => {
  const copy = [...list];
  copy[at] = item;
  return copy;
};
const inMessage = (content: JsonValue, before = 3): JsonObject => ({
  model: "m",
  messages: [...turns(before), { role: "user", content }],
});

describe("fields that are checked in stages", () => {
  it.each<[string, JsonObject]>([
    ["long lists", { model: "m", messages: turns(2_000) }],
    ["a long list in an item", inMessage(texts(2_000))],
    ["short lists", { model: "m", messages: turns(2), stop: ["a"], tools: [] }],
    ["no list", { model: "m", messages: turns(1), temperature: 1 }],
  ])("are accepted, %s", (_what, body) => {
    expect(both(body)).toEqual([undefined, undefined]);
  });

  it.each<[string, JsonObject, string]>([
    ["a missing field", { messages: turns(300) }, "model"],
    ["an empty list", { model: "m", messages: [] }, "messages"],
    ["a list that is none", { model: "m", messages: "x" }, "messages"],
    [
      "an item",
      { model: "m", messages: withItem(turns(900), 777, { role: "robot" }) },
      "messages[777]",
    ],
    [
      "a member of an item",
      { model: "m", messages: withItem(turns(900), 5, { role: "user", content: 7 }) },
      "messages[5].content",
    ],
    ["an item of an item", inMessage(withItem(texts(900), 700, "x")), "messages[3].content[700]"],
    [
      "a member of an item of an item",
      inMessage(withItem(texts(900), 700, { type: "text", text: 7 })),
      "messages[3].content[700].text",
    ],
    [
      "another member beside a long list",
      {
        model: "m",
        messages: [{ role: "assistant", content: texts(300), tool_calls: [{ type: "function" }] }],
      },
      "messages[0].tool_calls[0].id",
    ],
    [
      "a list with too many items",
      { model: "m", messages: turns(300), stop: Array.from({ length: 300 }, () => "x") },
      "stop",
    ],
    [
      "a field behind a long list",
      { model: "m", messages: turns(300), temperature: "hot" },
      "temperature",
    ],
  ])("are refused as at once, with %s", (_what, body, param) => {
    const [atOnce, inStages] = both(body);
    expect(atOnce).toMatchObject({ param });
    expect(inStages).toEqual(atOnce);
  });

  it("leave the turn to others between two items", () => {
    let stages = 0;
    for (const work = checkInStages(inMessage(texts(200_000))); work.next().done !== true;)
      stages += 1;
    expect(stages).toBeGreaterThan(1);
  });
});
