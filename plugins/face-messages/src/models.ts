/** The list of models in Anthropic's form (platform.claude.com/docs/en/api/models-list). */

import type { ClientRequest, FaceModels, JsonObject, JsonValue } from "@sluice/contract";
import { Members } from "@sluice/kit/dialect";

/** The list, or a page of it: `after_id`, `before_id`, `limit`. */
export const MODELS: FaceModels = {
  isAsked: (client) =>
    client.header("anthropic-version") !== undefined || client.header("x-api-key") !== undefined,
  list(reply, client) {
    const all = Members.objectsOf(reply.data).map(modelOf);
    const { page, hasMore } = pageOf(all, client);
    return {
      data: page,
      has_more: hasMore,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    };
  },
  one: modelOf,
};

function modelOf(entry: JsonObject): JsonObject {
  const { id = "", created } = entry;
  const seconds = typeof created === "number" && Number.isFinite(created) ? created : 0;
  return {
    type: "model",
    id,
    display_name: Members.textIn(entry.display_name) ?? id,
    created_at: new Date(seconds * 1_000).toISOString(),
    max_input_tokens: numberOf(entry.max_input_tokens),
    max_tokens: numberOf(entry.max_output_tokens),
  };
}

function numberOf(value: JsonValue | undefined): number | null {
  return typeof value === "number" ? value : null;
}

function pageOf(
  all: readonly JsonObject[],
  { query }: ClientRequest,
): { readonly page: readonly JsonObject[]; readonly hasMore: boolean } {
  const asked = new URLSearchParams(query);
  const limit = Number(asked.get("limit") ?? NaN);
  const count = Number.isInteger(limit) && limit > 0 ? limit : all.length;
  const indexOf = (name: string): number => {
    const id = asked.get(name);
    return id === null ? -1 : all.findIndex((each) => each.id === id);
  };
  const before = indexOf("before_id");
  if (before >= 0) {
    const start = Math.max(0, before - count);
    return { page: all.slice(start, before), hasMore: start > 0 };
  }
  const start = indexOf("after_id") + 1;
  return { page: all.slice(start, start + count), hasMore: start + count < all.length };
}
