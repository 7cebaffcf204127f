/**
 * The model of a native call, and the names of models in its body and its query: a call is checked,
 * priced and limited by one model.
 */

import { isObject } from "@sluice/kit";
import { GatewayError, type JsonObject, type JsonValue } from "@sluice/contract";
import { queryPairs } from "./request.ts";

/**
 * Members with whole requests of the same API, each with a model of its own
 * (ai.google.dev/api/tokens, ai.google.dev/api/embeddings).
 */
const INNER_REQUESTS = ["generateContentRequest", "generate_content_request", "requests"] as const;

/** Throws `invalid_field` for a body that names another model than the path. `param`: its place. */
export function checkModelsInBody(inPath: string, body: JsonObject): void {
  // As on every route, a model that is no text counts as none.
  if (typeof body.model === "string" && body.model !== "") check(inPath, body.model, "model");
  for (const name of INNER_REQUESTS) {
    const inner = body[name];
    if (isObject(inner)) checkInner(inPath, inner, name);
    else if (Array.isArray(inner))
      for (const [index, each] of (inner as readonly JsonValue[]).entries())
        if (isObject(each)) checkInner(inPath, each, `${name}[${index}]`);
  }
}

/**
 * Throws `invalid_field` for a query that names another model than the call has: LiteLLM's proxy
 * heeds `?model=` before the body.
 */
export function checkModelsInQuery(model: string, query: string): void {
  if (query === "" || model === "") return;
  for (const { name, value } of queryPairs(query))
    if (/^model(?:\[|$)/.test(name)) check(model, value, "model");
}

function checkInner(inPath: string, { model }: JsonObject, place: string): void {
  if (model !== undefined && model !== null && model !== "") check(inPath, model, `${place}.model`);
}

function check(inPath: string, model: JsonValue, param: string): void {
  // Google prefixes a model with its collection.
  if (model === inPath || model === `models/${inPath}`) return;
  throw new GatewayError(
    "invalid_field",
    `The field ${param} names another model than the call has. Send one of the two.`,
    { param },
  );
}
