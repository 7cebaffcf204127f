/**
 * Uses of tools that the provider runs and bills by the use, as replies report them. Sources:
 * Anthropic's `usage.server_tool_use`
 * (platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool), the output items of
 * OpenAI's responses (platform.openai.com/docs/pricing: built-in tools) and Gemini's grounding
 * metadata (ai.google.dev/gemini-api/docs/google-search, ai.google.dev/gemini-api/docs/pricing).
 */

import type { HostedTool, JsonObject, JsonValue, ToolUses } from "@sluice/contract";
import { isObject } from "../json/narrow.ts";
import { tokenCount as count } from "../json/token-count.ts";

/** The output items of OpenAI's responses that are billed, and what they are uses of. */
const ITEMS: ReadonlyMap<unknown, HostedTool> = new Map([
  ["web_search_call", "web_search"],
  ["file_search_call", "file_search"],
  ["code_interpreter_call", "code_interpreter"],
]);

/** Actions of a search that are not billed: a page of an earlier result is read. */
const FREE_ACTIONS: ReadonlySet<unknown> = new Set(["open_page", "find_in_page", "find"]);

/**
 * Gemini's models before the third generation are billed by the grounded prompt, later ones by the
 * query.
 */
const BY_PROMPT = /^gemini-[12](?:\D|$)/;

/** The uses that a whole reply, or an event of a stream, reports. `undefined`: none. */
export function readToolUses(reply: JsonObject): ToolUses | undefined {
  const { usage, output, item, candidates, modelVersion } = reply;
  if (isObject(usage) && isObject(usage.server_tool_use))
    return serverToolUses(usage.server_tool_use);
  if (Array.isArray(output)) return itemUses(output);
  if (isObject(item) && reply.type === "response.output_item.done") return itemUses([item]);
  if (Array.isArray(candidates)) return groundings(candidates, modelVersion);
  return undefined;
}

/** The counts of two reports together. */
export function addToolUses(
  first: ToolUses | undefined,
  second: ToolUses | undefined,
): ToolUses | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const uses: Partial<Record<HostedTool, number>> = { ...first };
  for (const [tool, times] of Object.entries(second) as [HostedTool, number][])
    uses[tool] = (uses[tool] ?? 0) + times;
  return uses;
}

/**
 * Anthropic's counts, also as layers before it report them. Fetched pages are billed by their
 * tokens alone.
 */
export function serverToolUses(value: JsonValue | undefined): ToolUses | undefined {
  const searches = isObject(value) ? count(value.web_search_requests) : undefined;
  return searches === undefined || searches === 0 ? undefined : { web_search: searches };
}

function itemUses(items: readonly JsonValue[]): ToolUses | undefined {
  const uses: Partial<Record<HostedTool, number>> = {};
  const containers = new Set<JsonValue | undefined>();
  for (const item of items) {
    if (!isObject(item)) continue;
    const tool = ITEMS.get(item.type);
    if (tool === undefined || (isObject(item.action) && FREE_ACTIONS.has(item.action.type)))
      continue;
    // A container is billed once, whatever runs in it.
    if (tool === "code_interpreter" && item.container_id !== undefined) {
      if (containers.has(item.container_id)) continue;
      containers.add(item.container_id);
    }
    uses[tool] = (uses[tool] ?? 0) + 1;
  }
  return Object.keys(uses).length === 0 ? undefined : uses;
}

function groundings(
  candidates: readonly JsonValue[],
  model: JsonValue | undefined,
): ToolUses | undefined {
  const queries = new Set<JsonValue>();
  let hasMaps = false;
  for (const candidate of candidates) {
    const found =
      isObject(candidate) && isObject(candidate.groundingMetadata)
        ? candidate.groundingMetadata
        : undefined;
    if (found === undefined) continue;
    if (Array.isArray(found.webSearchQueries))
      for (const query of found.webSearchQueries) if (query !== "") queries.add(query);
    const chunks = Array.isArray(found.groundingChunks) ? found.groundingChunks : [];
    hasMaps ||= chunks.some((chunk) => isObject(chunk) && chunk.maps !== undefined);
  }
  const isByPrompt = typeof model === "string" && BY_PROMPT.test(model);
  const searches = isByPrompt ? Math.min(1, queries.size) : queries.size;
  if (searches === 0 && !hasMaps) return undefined;
  return { ...(searches === 0 ? {} : { web_search: searches }), ...(hasMaps ? { maps: 1 } : {}) };
}
