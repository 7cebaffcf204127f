import { expect, it } from "vitest";
import * as Stages from "../../stages.ts";
import { readConversation } from "./conversation.ts";

const refuse = (path: string): never => {
  throw new Error(path);
};

it("keeps what a provider gave with a call and with an answer, in Google's words and in LiteLLM's", () => {
  const google = { google: { thought_signature: "s1" } };
  const reading = readConversation(
    [
      { role: "user", content: "Hi.", extra_content: google },
      {
        role: "assistant",
        content: [
          { type: "text", text: "One." },
          { type: "text", text: "Two." },
        ],
        extra_content: google,
        tool_calls: [
          {
            id: "a",
            type: "function",
            function: { name: "f", arguments: "{}" },
            extra_content: google,
          },
          {
            id: "b",
            type: "function",
            function: { name: "f", arguments: "{}" },
            provider_specific_fields: { thought_signature: "s2" },
          },
          {
            id: "c",
            type: "function",
            function: { name: "f", arguments: "{}" },
            extra_content: "odd",
          },
        ],
      },
    ],
    refuse,
  );
  const { turns } = Stages.atOnce(reading);
  expect(
    turns.map(({ parts }) => parts.map((part) => ("extra" in part ? part.extra : undefined))),
  ).toEqual([[undefined], [undefined, google, google, { thought_signature: "s2" }, undefined]]);
});
