/**
 * Members of a body that guardrails of texts cannot read: tokens, vectors, and templates that build
 * a prompt.
 */

import type { JsonValue } from "@sluice/contract";
import { MEMBERS } from "./places.ts";

/** Named members that may hold tokens instead of a text, besides members outside every dialect. */
const TOKEN_MEMBERS = new Set(["input", "inputs", "prompt", "context", "texts"]);

/** Lists of numbers that are settings and not prompts (docs.vllm.ai, sampling parameters). */
const SETTINGS = new Set([
  "stop_token_ids",
  "allowed_token_ids",
  "bad_token_ids",
  "timestamp_granularities",
]);

/** Vectors instead of a prompt, as base64 (docs.vllm.ai, prompt embedding inputs). */
const VECTORS = new Set(["prompt_embeds", "input_embeds", "inputs_embeds"]);

/** Programs that write the prompt: Go templates in Ollama, Jinja in vLLM and SGLang. */
const TEMPLATES = new Set(["template", "chat_template"]);
const EXPRESSION = /\{\{|\{%/;

/** Whether a top-level member is unreadable for guardrails of texts. */
export function isUnreadable(name: string, value: JsonValue): boolean {
  if (VECTORS.has(name)) return value !== null && value !== "";
  if (TEMPLATES.has(name)) return typeof value === "string" && EXPRESSION.test(value);
  const mayBeTokens =
    TOKEN_MEMBERS.has(name) || (!Object.hasOwn(MEMBERS.body, name) && !SETTINGS.has(name));
  return mayBeTokens && holdsTokens(value);
}

/** Whether a value is a list of tokens, or of such lists. */
function holdsTokens(value: JsonValue): boolean {
  return (
    Array.isArray(value) &&
    (value as readonly JsonValue[]).some((item) => typeof item === "number" || Array.isArray(item))
  );
}
