import type { JsonObject } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { FACE_CONTEXT, FACE_MEANS } from "@sluice/testing";
import { describe, expect, it } from "vitest";
import { CLIENT, FACE } from "./face.fixture.ts";

const CONTEXT = { ...FACE_CONTEXT, model: "m", startedAtMs: 0 };
const EXTRA = { google: { thought_signature: "c2ln" } };
const CALLS = ["a", "b"].map((id, index) => ({
  id,
  type: "function",
  function: { name: "f", arguments: '{"x":1}' },
  ...(index === 0 ? { extra_content: EXTRA } : {}),
}));

/** The blocks of a reply with two calls, the first of them signed. */
function blocks(): readonly JsonObject[] {
  const message = { role: "assistant", content: "Wait.", tool_calls: CALLS };
  const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
  const state = FACE.read(documentOf(JSON.stringify(asked([]))), CLIENT, FACE_MEANS).state;
  return FACE.whole({ choices }, state, CONTEXT).content as readonly JsonObject[];
}

function asked(content: readonly JsonObject[]): JsonObject {
  const answer = content.length === 0 ? [] : [{ role: "assistant", content }];
  return {
    model: "m",
    max_tokens: 9,
    messages: [{ role: "user", content: "Hi" }, ...answer, { role: "user", content: "On." }],
  };
}

const readBack = (content: readonly JsonObject[]) =>
  FACE.read(documentOf(JSON.stringify(asked(content))), CLIENT, FACE_MEANS);

describe("what a call must bring back", () => {
  it("stands before its call, and returns to it", () => {
    expect(blocks().map(({ type }) => type)).toEqual([
      "text",
      "redacted_thinking",
      "tool_use",
      "tool_use",
    ]);
    const { body, holdsOwnMarks } = readBack(blocks());
    expect(holdsOwnMarks).toBe(true);
    expect(body.messages).toMatchObject([
      {},
      { role: "assistant", content: "Wait.", tool_calls: CALLS },
      {},
    ]);
    expect(JSON.stringify(body.messages)).not.toContain("redacted_thinking");
  });

  it("is left where its call is gone, and never another provider's", () => {
    const [text = {}, kept = {}] = blocks();
    const [, answer] = readBack([text, kept]).body.messages as readonly JsonObject[];
    expect(answer).toEqual({ role: "assistant", content: "Wait." });
  });

  it.each(["c2x1aWNlLzE6", "c2x1aWNlLzE6e30=", "c2x1aWNlLzE6bm90IEpTT04="])(
    "is nothing where it was changed to %s",
    (data) => {
      const [, , call = {}] = blocks();
      const { body } = readBack([{ type: "redacted_thinking", data }, call]);
      const [, answer] = body.messages as readonly JsonObject[];
      expect(answer).not.toHaveProperty("tool_calls[0].extra_content");
      expect(answer).not.toHaveProperty("thinking_blocks");
    },
  );
});
