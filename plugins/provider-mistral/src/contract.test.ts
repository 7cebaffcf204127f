import { Members } from "@sluice/kit/dialect";
import { providerContract } from "@sluice/testing";
import type { JsonObject } from "@sluice/contract";
import { describe, it } from "vitest";
import mistral from "./index.ts";

/** Top-level fields of `ChatCompletionRequest` (its SDK); another one is a 422. */
const FIELDS = new Set(
  (
    "model messages temperature top_p max_tokens min_tokens stream stop random_seed metadata response_format tools tool_choice " +
    "presence_penalty frequency_penalty n prediction parallel_tool_calls reasoning_effort prompt_mode guardrails prompt_cache_key safe_prompt"
  ).split(" "),
);
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  system: ["role", "content"],
  user: ["role", "content"],
  assistant: ["role", "content", "tool_calls", "prefix"],
  tool: ["role", "content", "tool_call_id", "name"],
};

/**
 * What the API refuses: unknown fields, ids and names of another form, instructions after an
 * answer, an answer at the end.
 */
function checkBody(body: JsonObject): void {
  const fail = (what: string): never => {
    throw new Error(`The API refuses ${what}.`);
  };
  for (const name of Object.keys(body)) if (!FIELDS.has(name)) fail(`the field ${name}`);
  const messages = Members.objectsOf(body.messages);
  for (const [index, message] of messages.entries()) {
    const known = MEMBERS[String(message.role)] ?? fail(`the role ${String(message.role)}`);
    for (const name of Object.keys(message))
      if (!known.includes(name)) fail(`${name} of a message of ${String(message.role)}`);
    if (message.role === "system" && index > 0) fail("instructions that are not first");
    if (message.role === "tool" && !/^[a-zA-Z0-9]{9}$/.test(String(message.tool_call_id)))
      fail(`the id ${String(message.tool_call_id)}`);
    for (const call of Members.objectsOf(message.tool_calls)) {
      if (!/^[a-zA-Z0-9]{9}$/.test(String(call.id))) fail(`the id ${String(call.id)}`);
      checkName(call.function as JsonObject, fail);
    }
  }
  for (const tool of Members.objectsOf(body.tools))
    if (tool.type === "function") checkName(tool.function as JsonObject, fail);
  const last = messages.at(-1);
  if (last?.role === "assistant" && last.prefix !== true && last.tool_calls === undefined)
    fail("an answer at the end");
}

function checkName({ name }: JsonObject, fail: (what: string) => never): void {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(name))) fail(`the name ${String(name)}`);
}

providerContract({ describe, it }, mistral, {
  fixtures: new URL("../fixtures/", import.meta.url),
  model: "mistral-large-2512",
  checkBody,
});
