/** Tools of a request that the provider runs and bills by the use: how often they may be used. */

import { isObject } from "@sluice/kit";
import type { HostedTool, JsonObject, JsonValue, Price, ToolUses } from "@sluice/contract";
import { positive } from "./native-bounds.ts";

/** Uses of a tool without a bound in the request. The bill has the reported number. */
const ASSUMED_USES = 5;

/** Beginnings of types of tools: versions follow (`web_search_20250305`, `web_search_preview`). */
const TYPES: readonly (readonly [beginning: string, tool: HostedTool])[] = [
  ["web_search", "web_search"],
  ["google_search", "web_search"],
  ["googleSearch", "web_search"],
  ["file_search", "file_search"],
  ["code_interpreter", "code_interpreter"],
  ["google_maps", "maps"],
  ["googleMaps", "maps"],
];

/** Tools that are billed once for a request. */
const ONCE: ReadonlySet<HostedTool> = new Set(["code_interpreter", "maps"]);

/** The uses that a body may lead to; `undefined` without such a tool. */
export function expectedToolUses({
  tools,
  web_search_options: search,
  max_tool_calls: maxCalls,
}: JsonObject): ToolUses | undefined {
  const uses: Partial<Record<HostedTool, number>> = {};
  if (isObject(search)) uses.web_search = 1;
  for (const tool of Array.isArray(tools) ? (tools as readonly JsonValue[]) : []) {
    if (!isObject(tool)) continue;
    for (const name of typeof tool.type === "string" ? [tool.type] : Object.keys(tool)) {
      const hosted = TYPES.find(([beginning]) => name.startsWith(beginning))?.[1];
      if (hosted === undefined) continue;
      const bound = Math.min(
        positive(tool.max_uses) ?? ASSUMED_USES,
        positive(maxCalls) ?? Infinity,
      );
      uses[hosted] = (uses[hosted] ?? 0) + (ONCE.has(hosted) ? 1 : bound);
    }
  }
  return Object.keys(uses).length === 0 ? undefined : uses;
}

/** A tool of the body that has no price. */
export function unpricedTool(body: JsonObject, price: Price): HostedTool | undefined {
  const uses = price.free === true ? {} : (expectedToolUses(body) ?? {});
  return (Object.keys(uses) as HostedTool[]).find((tool) => price.tools?.[tool] === undefined);
}
