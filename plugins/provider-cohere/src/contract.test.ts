import { Members } from "@sluice/kit/dialect";
import { providerContract } from "@sluice/testing";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { describe, it } from "vitest";
import cohere from "./index.ts";

/** Top-level fields of `v2.chat` (its SDK); another one is a 422. */
const FIELDS = new Set(
  (
    "model messages tools strict_tools documents citation_options response_format safety_mode max_tokens stop_sequences temperature " +
    "seed frequency_penalty presence_penalty k p tool_choice thinking priority raw_prompting stream"
  ).split(" "),
);
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  system: ["role", "content"],
  user: ["role", "content"],
  assistant: ["role", "content", "tool_calls", "tool_plan"],
  tool: ["role", "content", "tool_call_id"],
};
/** Keywords that its structured output does not take. */
const UNSUPPORTED = [
  "oneOf",
  "allOf",
  "not",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "uniqueItems",
];

/**
 * What the API refuses: unknown fields and members, instructions that are not first, schemas beyond
 * its subset.
 */
function checkBody(body: JsonObject): void {
  for (const name of Object.keys(body))
    if (!FIELDS.has(name)) throw new Error(`The API refuses the field ${name}.`);
  for (const [index, message] of Members.objectsOf(body.messages).entries()) {
    const known = MEMBERS[String(message.role)] ?? [];
    const odd = Object.keys(message).find((name) => !known.includes(name));
    if (odd !== undefined)
      throw new Error(`The API refuses ${odd} of a message of ${String(message.role)}.`);
    if (message.role === "system" && index > 0)
      throw new Error("The API refuses instructions that are not first.");
    if (Members.objectsOf(message.tool_calls).some((call) => "index" in call))
      throw new Error("The API refuses the index of a call.");
  }
  const format = body.response_format as JsonObject | undefined;
  if (format?.json_schema !== undefined) checkSchema(format.json_schema);
}

function checkSchema(value: JsonValue): void {
  if (Array.isArray(value)) {
    value.forEach(checkSchema);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [keyword, nested] of Object.entries(value as JsonObject)) {
    if (UNSUPPORTED.includes(keyword)) throw new Error(`The API refuses the keyword ${keyword}.`);
    if (["properties", "$defs"].includes(keyword))
      Object.values(nested as JsonObject).forEach((each) => checkSchema(each as JsonValue));
    else if (!["enum", "const", "required"].includes(keyword)) checkSchema(nested as JsonValue);
  }
}

providerContract({ describe, it }, cohere, {
  fixtures: new URL("../fixtures/", import.meta.url),
  model: "command-a-03-2025",
  checkBody,
});
