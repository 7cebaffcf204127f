/** Models of native calls that no model of the file has as a target: a limit may name them. */

import type { Exchange, Identity, Model, ModelCatalog, Target } from "@sluice/contract";
import { CUSTOMER, namesModel } from "@sluice/runtime";
import { directModel } from "../models/bounds.ts";

/**
 * The model of such a target where a limit of a single model names it, as `provider/model` or by a
 * wildcard; `undefined` where none does.
 */
export function limitedModel(
  exchange: Exchange,
  { scopes = [] }: Identity,
  target: Target,
  models: ModelCatalog,
): Model | undefined {
  const limits = [...scopes, ...(CUSTOMER.get(exchange)?.scopes ?? [])].flatMap(
    ({ perModel }) => perModel,
  );
  if (target.model === "" || limits.length === 0) return undefined;
  const model = directModel(target, models);
  return limits.some((limit) => namesModel(limit.models, model)) ? model : undefined;
}
