/**
 * Which models can be served to a key: one rule for the lists, `GET /v1/models/{id}` and requests.
 */

import type { Authority, Identity, Model, ModelCatalog } from "@sluice/contract";

/**
 * Whether a key may use a model that can be served: by a target whose provider has its credential,
 * or by a configured general fallback that can. An id for which this is false is answered like one
 * that does not exist.
 */
export function isServable(
  viewer: Identity,
  model: Model,
  models: ModelCatalog,
  authority: Authority,
): boolean {
  if (!authority.mayUse(viewer, model)) return false;
  if (model.targets.length > 0) return true;
  return (model.fallbacks?.general ?? []).some((id) => {
    const standIn = models.find(id);
    return standIn !== undefined && standIn.targets.length > 0 && authority.mayUse(viewer, standIn);
  });
}
