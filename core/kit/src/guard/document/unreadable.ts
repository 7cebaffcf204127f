/**
 * Members of a body that guardrails of texts cannot read: tokens, vectors, requests in base64,
 * templates that build a prompt, and tools of a server whose words reach the model without the
 * gateway.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
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
  if (name === "input" && isObject(value)) return isEncodedRequest(value.invokeModel);
  const mayBeTokens =
    TOKEN_MEMBERS.has(name) || (!Object.hasOwn(MEMBERS.body, name) && !SETTINGS.has(name));
  return mayBeTokens && holdsTokens(value);
}

/**
 * Whether a value has a request in base64, as the input of Bedrock's CountTokens may
 * (docs.aws.amazon.com/bedrock/latest/APIReference, InvokeModelTokensRequest).
 */
function isEncodedRequest(value: JsonValue | undefined): boolean {
  const body = isObject(value) ? value.body : undefined;
  return body !== undefined && body !== null && body !== "";
}

/** Whether a value is a list of tokens, or of such lists. */
function holdsTokens(value: JsonValue): boolean {
  return (
    Array.isArray(value) &&
    (value as readonly JsonValue[]).some((item) => typeof item === "number" || Array.isArray(item))
  );
}

/** Members of such a tool that are for its server alone: credentials. No guardrail gets them. */
const FOR_SERVER = { headers: undefined, authorization: undefined };

/** The tools of a body for guardrails. */
export interface ToolsRead {
  /** Without the members that are for a tool's server alone. The same value without such tools. */
  readonly tools: JsonValue;
  /** The paths of tools whose server speaks to the model (OpenAI: tools of type `mcp`). */
  readonly opaque: readonly string[];
}

/** Reads the tools of a body. */
export function readTools(tools: JsonValue): ToolsRead {
  if (!Array.isArray(tools)) return { tools, opaque: [] };
  const list = tools as readonly JsonValue[];
  const opaque = list.flatMap((tool, at) => (isServerTool(tool) ? [`tools[${at}]`] : []));
  if (opaque.length === 0) return { tools, opaque };
  return {
    tools: list.map((tool) => (isServerTool(tool) ? { ...tool, ...FOR_SERVER } : tool)),
    opaque,
  };
}

function isServerTool(tool: JsonValue): tool is JsonObject {
  return isObject(tool) && tool.type === "mcp";
}
