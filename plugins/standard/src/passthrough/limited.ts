/** Models of native calls that no model of the file has as a target: a limit may name them. */

import type { Exchange, Identity, LimitScope, Model, ModelCatalog, Target } from "@sluice/contract";
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
  if (target.model === "") return undefined;
  const model = directModel(target, models);
  const isLimited = ({ perModel }: LimitScope): boolean =>
    perModel.some((limit) => namesModel(limit.models, model));
  const isNamed = scopes.some(isLimited) || CUSTOMER.get(exchange)?.scopes.some(isLimited) === true;
  return isNamed ? model : undefined;
}
