/** The model and the price of a calculation. */

import { pricedAs, routedModel } from "@sluice/runtime";
import {
  type Exchange,
  GatewayError,
  type Host,
  type Model,
  type Price,
  type Target,
} from "@sluice/contract";
import { namedModel } from "../models/alias.ts";
import { readerOf } from "./scope.ts";

/** A price and its source. */
export interface FoundPrice {
  /** The id of the catalogue. */
  readonly modelId: string;
  readonly target: Target;
  /** The name under which the provider's models are priced. */
  readonly provider: string;
  readonly price: Price;
}

/**
 * `gpt-4o-2024-08-06`, `claude-sonnet-4-20250514`, `gpt-4-0613`: a name and the day of a version.
 */
const DATED = /^(.+)-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4})$/;

/**
 * The price of a model that the key may use, by its name as in a chat request. Throws
 * `model_not_found` as a chat would, `not_found` when no target of the model has a price.
 */
export function priceOfModel(id: string, exchange: Exchange, host: Host): FoundPrice {
  const named = host.models.find(namedModel(readerOf(exchange), id));
  const model = visible(named, exchange, host);
  if (model === undefined) throw noModel(id, "model");
  return firstPrice([{ model, targets: model.targets }], host) ?? noPrice(id, "model");
}

/**
 * The price of a reply's model: an id of the catalogue, or a provider's own name, with or without a
 * date. Throws `model_not_found` when the key may not use it, `not_found` when it has no price.
 */
export function priceOfReply(name: string, exchange: Exchange, host: Host): FoundPrice {
  const param = "completion_response.model";
  const candidates = [...candidatesOf(name, exchange, host)];
  if (candidates.length === 0) throw noModel(name, param);
  return firstPrice(candidates, host) ?? noPrice(name, param);
}

/** A model and the targets that may have answered. */
interface Candidate {
  readonly model: Model;
  readonly targets: readonly Target[];
}

/**
 * Candidate models of a reply's name, the likeliest first: id, target's name, name without its
 * date, wildcard.
 */
function* candidatesOf(name: string, exchange: Exchange, host: Host): Generator<Candidate> {
  const exact = visible(host.models.find(name), exchange, host);
  if (exact !== undefined) yield { model: exact, targets: exact.targets };
  const entries = host.models
    .list()
    .filter((model) => visible(model, exchange, host) !== undefined);
  const named = (wanted: string): Candidate[] =>
    entries.flatMap((model) => {
      const targets = model.targets.filter((target) => target.model === wanted);
      return targets.length === 0 ? [] : [{ model, targets }];
    });
  yield* named(name);
  const [, undated] = DATED.exec(name) ?? [];
  if (undated !== undefined) {
    // The price of the dated name wins where the table has one.
    for (const { model, targets } of named(undated)) {
      yield { model, targets: targets.flatMap((target) => [{ ...target, model: name }, target]) };
    }
    const base = visible(host.models.find(undated), exchange, host);
    if (base !== undefined) yield { model: base, targets: base.targets };
  }
  for (const entry of entries) {
    if (!entry.id.endsWith("*") || !entry.targets.some((target) => target.model.includes("*")))
      continue;
    const model = visible(host.models.find(entry.id.slice(0, -1) + name), exchange, host);
    if (model !== undefined) yield { model, targets: model.targets };
  }
}

function firstPrice(candidates: readonly Candidate[], host: Host): FoundPrice | undefined {
  for (const { model, targets } of candidates) {
    for (const target of targets) {
      const instance = host.providers.find(target.provider);
      const provider = instance === undefined ? undefined : pricedAs(instance);
      const price =
        provider === undefined
          ? undefined
          : (target.price ?? host.prices.find(provider, target.model));
      if (provider !== undefined && price !== undefined)
        return { modelId: model.id, target, provider, price };
    }
  }
  return undefined;
}

function visible(model: Model | undefined, exchange: Exchange, host: Host): Model | undefined {
  const identity = readerOf(exchange);
  return model !== undefined && host.authority.mayUse(identity, model)
    ? routedModel(model, { identity })
    : undefined;
}

/**
 * One answer for an unknown model and for a forbidden one, so that a key cannot probe for models.
 */
function noModel(id: string, param: string): GatewayError {
  const message = `The model ${JSON.stringify(id.slice(0, 200))} does not exist or you may not use it.`;
  return new GatewayError("model_not_found", message, { param });
}

function noPrice(id: string, param: string): never {
  throw unpriced(id, param);
}

/** The refusal of a model without a price for a used kind of token. */
export function unpriced(id: string, param: string): GatewayError {
  const message = `The model ${JSON.stringify(id.slice(0, 200))} has no known price for this; the operator can set one in prices.yaml.`;
  return new GatewayError("not_found", message, { param });
}
