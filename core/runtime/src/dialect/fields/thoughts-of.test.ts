import { documentOf } from "@sluice/kit";
import { describe, expect, it } from "vitest";
import { thoughtsFor } from "./thoughts-of.ts";

const answerOf = (index: number): object => ({
  role: "assistant",
  content: "I look.",
  reasoning_content: "Hm.",
  thinking_blocks: [{ type: "thinking", thinking: "Hm.", signature: "c2ln" }],
  extra_content: { google: { thought_signature: "QQ==" } },
  tool_calls: [{ id: "call_1", extra_content: { google: { thought_signature: "QQ==" } } }],
  thoughts_of: index,
});

describe("reasoning of deployments", () => {
  it("goes to the deployment that made it, and to no other", () => {
    const document = documentOf(
      JSON.stringify({ messages: [{ role: "user", content: "Hi." }, answerOf(0), answerOf(1)] }),
    );
    const { messages } = thoughtsFor(document, ["a/one", "b/two"], "b/two").value;
    const { thoughts_of: _mark, ...own } = answerOf(1) as Record<string, unknown>;
    expect(messages).toEqual([
      { role: "user", content: "Hi." },
      { role: "assistant", content: "I look.", tool_calls: [{ id: "call_1" }] },
      own,
    ]);
  });
});
