/** LiteLLM's lists of fallbacks by model, as the gateway's lists for one model. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/** What is read of a request so far. */
interface Draft {
  readonly fields: Record<string, JsonValue>;
  readonly taken: string[];
}

/** Reads `fallbacks: [{a: [b]}]` and `context_window_fallbacks: [{a: [b]}]`. */
export function readFallbacks(body: JsonObject, draft: Draft): void {
  const { fallbacks, context_window_fallbacks: larger, model } = body;
  if (Array.isArray(fallbacks) && fallbacks.length > 0 && fallbacks.every(isByModel)) {
    const lists = fallbacks as readonly JsonObject[];
    const own = lists.flatMap((list) => listOf(list, String(model)));
    const others = lists.flatMap((list) => listOf(list, "*"));
    draft.fields["fallbacks"] = own.length > 0 ? own : others;
  }
  if (Array.isArray(larger) && larger.every(isByModel)) {
    draft.taken.push("context_window_fallbacks");
    const pairs = (larger as readonly JsonObject[]).flatMap((list) =>
      Object.entries(list).flatMap(([name, models]) => {
        const [first] = Array.isArray(models) ? (models as readonly JsonValue[]) : [];
        return typeof first === "string" ? [[name, first] as const] : [];
      }),
    );
    if (pairs.length > 0 && body.context_window_fallback_dict === undefined)
      draft.fields["context_window_fallback_dict"] = Object.fromEntries(pairs);
  }
}

/** Whether an entry is a map of a model to its fallbacks, and not one fallback. */
function isByModel(entry: JsonValue): boolean {
  return (
    isObject(entry) &&
    entry.model === undefined &&
    Object.keys(entry).length > 0 &&
    Object.values(entry).every(Array.isArray)
  );
}

function listOf(list: JsonObject, name: string): JsonValue[] {
  const found = Object.hasOwn(list, name) ? list[name] : undefined;
  return Array.isArray(found) ? [...(found as readonly JsonValue[])] : [];
}
