/** Names for models of a key and its team, in place of the models that they stand for. */

import type { GatewayRequest, Identity } from "@sluice/contract";
import { isObject } from "@sluice/kit";

type Aliased = Pick<Identity, "modelAliases">;

/** The model id that a name of a client stands for: the name itself, where it is no alias. */
export function namedModel({ modelAliases }: Aliased, name: string): string {
  return modelAliases !== undefined && Object.hasOwn(modelAliases, name)
    ? (modelAliases[name] ?? name)
    : name;
}

/**
 * A request whose names of models are ids: its model, and the fallbacks that it names. Rows show
 * these models. An alias that stands for another alias is not followed.
 */
export function withoutAliases(request: GatewayRequest, identity: Aliased): GatewayRequest {
  if (identity.modelAliases === undefined) return request;
  const named = (name: string): string => namedModel(identity, name);
  const { model, otherModels, fields } = request;
  const { fallbacks, context_window_fallback_dict: larger } = fields;
  return {
    ...request,
    model: named(model),
    ...(otherModels !== undefined && { otherModels: otherModels.map(named) }),
    fields: {
      ...fields,
      ...(Array.isArray(fallbacks) && {
        fallbacks: fallbacks.map((entry) => namedFallback(entry, named)),
      }),
      ...(isObject(larger) && {
        context_window_fallback_dict: Object.fromEntries(
          Object.entries(larger).map(([of, to]) => [
            named(of),
            typeof to === "string" ? named(to) : to,
          ]),
        ),
      }),
    },
  };
}

/** A fallback of a request: a name, or an object with the member `model`. */
function namedFallback(entry: unknown, named: (name: string) => string): unknown {
  if (typeof entry === "string") return named(entry);
  if (!isObject(entry) || typeof entry.model !== "string") return entry;
  return { ...entry, model: named(entry.model) };
}
