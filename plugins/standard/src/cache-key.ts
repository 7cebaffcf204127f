/** Keys of cache entries: whose they are, what was asked, and what would answer. */

import { type Exchange, type GatewayRequest, GatewayError, type Identity, type Model, type ProviderCatalog } from "@sluice/spec";
import { CanonicalDigest } from "./canonical-digest.ts";
import type { CacheScope } from "./cache-config.ts";

/** Says how the reply is written, or whom it is for, and nothing of what it says. The model counts by its targets. */
const OMITTED: ReadonlySet<string> = new Set(["model", "stream", "stream_options", "user"]);
const OMITTED_OF_EMBEDDINGS: ReadonlySet<string> = new Set([...OMITTED, "input", "encoding_format"]);

/** The gateway's fields that decide what becomes of a request which fails; twins under way must agree on them. */
const FLIGHT_FIELDS = ["fallbacks", "context_window_fallback_dict", "num_retries", "timeout"] as const;

/** What makes keys, for one step. */
export interface CacheKeys {
  /** The key of a request; of an embeddings request, what its inputs' keys begin from. */
  of(exchange: Exchange, namespace: string): string;
}

/** Keys in a scope. A model that points elsewhere, or at a provider that is configured anew, has other keys. */
export function createCacheKeys(scope: CacheScope, providers: ProviderCatalog): CacheKeys {
  const holders = new WeakMap<Identity, string>();
  const answerers = new WeakMap<Model, string>();
  const answererOf = (model: Model): string => {
    const known = answerers.get(model);
    if (known !== undefined) return known;
    const made = describe(model, providers);
    answerers.set(model, made);
    return made;
  };
  return {
    of(exchange, namespace) {
      const { request, identity, model, operation } = exchange;
      if (request === undefined || identity === undefined || model === undefined) {
        throw new GatewayError("internal_error", "The step cache ran without a request, an identity or a model.");
      }
      let holder = holders.get(identity);
      if (holder === undefined) holders.set(identity, (holder = holderOf(identity, scope)));
      const digest = new CanonicalDigest().text(holder).text(namespace).text(operation).text(answererOf(model));
      // With it a parameter may be missing in what the provider saw.
      if (request.fields.drop_params === true) digest.text("drop_params");
      if (model.targets.some(({ forwardMetadata }) => forwardMetadata === true)) digest.text(JSON.stringify(request.metadata));
      digest.document(request.document, operation === "embeddings" ? OMITTED_OF_EMBEDDINGS : OMITTED);
      return `cache:${holder}:${digest.end()}`;
    },
  };
}

/** The key under which identical requests find each other while they are under way. */
export function flightKey(key: string, { fields, stream, document }: GatewayRequest, inputs: readonly string[] = []): string {
  const form = `${key}:${stream ? "stream" : "whole"}`;
  if (inputs.length === 0 && FLIGHT_FIELDS.every((name) => fields[name] === undefined)) return form;
  const rules = FLIGHT_FIELDS.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]);
  const digest = new CanonicalDigest().value(document.value.encoding_format).text(JSON.stringify(rules));
  for (const input of inputs) digest.text(input);
  return `${form}:${digest.end()}`;
}

function holderOf({ keyId, userId, teamId }: Identity, scope: CacheScope): string {
  if (scope === "global") return "global";
  if (scope === "user" && userId !== undefined) return `user:${encodeURIComponent(userId)}`;
  if (scope === "team" && teamId !== undefined) return `team:${encodeURIComponent(teamId)}`;
  return `key:${encodeURIComponent(keyId)}`;
}

function describe({ id, mode, targets }: Model, providers: ProviderCatalog): string {
  const places = targets.map((target) => [
    target.id,
    target.dropParams === true,
    target.forwardMetadata === true,
    target.forward ?? null,
    providers.find(target.provider)?.identity ?? null,
  ]);
  return JSON.stringify([id, mode, places]);
}
