/**
 * Which models can be served to a key: one rule for the lists, `GET /v1/models/{id}` and requests.
 */

import type { GatewayRequest, Host, Identity, Model } from "@sluice/contract";
import { routedModel } from "@sluice/runtime";

/**
 * A model with the targets for the tags of the key and the request, if the key may use it and it
 * can be served: by a target whose provider has its credential, or by a configured general fallback
 * that can. An id without one is answered like one that does not exist.
 */
export function servableModel(
  identity: Identity,
  model: Model,
  { authority, models }: Pick<Host, "authority" | "models">,
  request?: GatewayRequest,
): Model | undefined {
  if (!authority.mayUse(identity, model)) return undefined;
  const routed = routedModel(model, { identity, request });
  if (routed === undefined || routed.targets.length > 0) return routed;
  const hasStandIn = (model.fallbacks?.general ?? []).some((id) => {
    const found = models.find(id);
    const standIn = found && routedModel(found, { identity, request });
    return (
      standIn !== undefined && standIn.targets.length > 0 && authority.mayUse(identity, standIn)
    );
  });
  return hasStandIn ? routed : undefined;
}
