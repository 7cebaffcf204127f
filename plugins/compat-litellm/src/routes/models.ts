/** LiteLLM's views of models, made of `GET /model/info`. */

import type {
  EdgeAnswer,
  EdgeGateway,
  ExtensionRequest,
  ExtensionRoute,
  JsonObject,
  JsonValue,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";

export const MODEL_ROUTES: readonly ExtensionRoute[] = [
  {
    listener: "public",
    method: "GET",
    path: "/model_group/info",
    access: "key",
    handler: groupInfo,
  },
  { listener: "public", method: "GET", path: "/v2/model/info", access: "key", handler: pagedInfo },
];

const INFO = "/v1/model/info";

async function groupInfo({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const answer = await gateway.call({ method: "GET", path: INFO });
  if (answer.status !== 200) return answer;
  const wanted = query.get("model_group");
  const groups = itemsOf(answer).filter(
    ({ model_name: name }) => wanted === null || name === wanted,
  );
  return { status: 200, body: { data: groups.map(groupOf) } };
}

/** Abilities and limits of a group, under LiteLLM's names. */
function groupOf({ model_name: name, targets, model_info: info }: JsonObject): JsonObject {
  const facts = isObject(info) ? info : {};
  const list = Array.isArray(targets) ? (targets as readonly JsonValue[]).filter(isObject) : [];
  const supports = Object.entries(facts).filter(([fact]) => fact.startsWith("supports_"));
  return {
    model_group: name ?? null,
    providers: [...new Set(list.map(({ provider }) => provider ?? null))],
    max_input_tokens: facts.max_input_tokens ?? null,
    max_output_tokens: facts.max_output_tokens ?? null,
    input_cost_per_token: facts.input_cost_per_token ?? null,
    output_cost_per_token: facts.output_cost_per_token ?? null,
    mode: facts.mode ?? null,
    tpm: facts.tpm ?? null,
    rpm: facts.rpm ?? null,
    ...Object.fromEntries(supports),
    is_public_model_group: false,
  };
}

const DEFAULT_SIZE = 50;
const MAX_SIZE = 1_000;

async function pagedInfo({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const id = query.get("modelId") ?? query.get("litellm_model_id") ?? undefined;
  const answer = await gateway.call({
    method: "GET",
    path: INFO,
    query: { litellm_model_id: id },
  });
  if (answer.status !== 200) return answer;
  const [model, search] = [query.get("model"), query.get("search")];
  const found = itemsOf(answer).filter(({ model_name: name }) => {
    const text = String(name);
    return (model === null || text === model) && (search === null || text.includes(search));
  });
  const size = wholeIn(query.get("size"), DEFAULT_SIZE, MAX_SIZE);
  const page = wholeIn(query.get("page"), 1, Number.MAX_SAFE_INTEGER);
  return {
    status: 200,
    body: {
      data: found.slice((page - 1) * size, page * size),
      total_count: found.length,
      current_page: page,
      total_pages: Math.ceil(found.length / size),
      size,
    },
  };
}

function itemsOf({ body }: EdgeAnswer): readonly JsonObject[] {
  const data = isObject(body) ? body.data : undefined;
  return Array.isArray(data) ? (data as readonly JsonValue[]).filter(isObject) : [];
}

function wholeIn(text: string | null, otherwise: number, maximum: number): number {
  const value = text !== null && /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
  return Math.min(maximum, Math.max(1, value));
}
