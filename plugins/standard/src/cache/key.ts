/** Keys of cache entries, made of the scope, the request, and the models that would answer. */

import { addedHeaders, answerHeaderNames, sentHeaders } from "@sluice/runtime/transport";
import {
  type Exchange,
  type GatewayRequest,
  GatewayError,
  type Identity,
  type Model,
  type NativeRequest,
  type ProviderCatalog,
} from "@sluice/contract";
import { CanonicalDigest } from "./canonical-digest.ts";
import type { CacheScope } from "./config.ts";

/**
 * Members that affect the form or the recipient of a reply, not its content. The model counts by
 * its targets.
 */
const OMITTED: ReadonlySet<string> = new Set(["model", "stream", "stream_options", "user"]);
/** The same members of a client's own document: the user stands in its metadata. */
const OMITTED_OF_NATIVE: ReadonlySet<string> = new Set(["model", "stream", "metadata"]);
const OMITTED_OF_EMBEDDINGS: ReadonlySet<string> = new Set([
  ...OMITTED,
  "input",
  "encoding_format",
]);

/**
 * The gateway's fields that decide about a failed request; duplicate requests must agree on them.
 */
const FLIGHT_FIELDS = [
  "fallbacks",
  "context_window_fallback_dict",
  "num_retries",
  "timeout",
] as const;

/** Makes keys for one step. */
export interface CacheKeys {
  /** The key of a request; for an embeddings request, the common prefix of its inputs' keys. */
  of(exchange: Exchange, namespace: string): string;
  /** The key by which identical requests find each other while they run. */
  flightOf(exchange: Exchange, key: string, inputs?: readonly string[]): string;
}

/** The targets that would answer a model, and the names of the client's headers that reach them. */
interface Answerer {
  readonly text: string;
  readonly headers: readonly string[];
}

/**
 * Keys in a scope. A model with other targets, or with a provider of another configuration, has
 * other keys.
 */
export function createCacheKeys(scope: CacheScope, providers: ProviderCatalog): CacheKeys {
  const holders = new WeakMap<Identity, string>();
  const answerers = new WeakMap<Model, Answerer>();
  /** A fallback model of any provider may answer a shared call. */
  const ofAll = answerHeaderNames(providers.names().map((name) => providers.find(name)));
  const dialects = dialectsOf(providers);
  const answererOf = (model: Model): Answerer => {
    const known = answerers.get(model);
    if (known !== undefined) return known;
    const headers = answerHeaderNames(
      model.targets.map(({ provider }) => providers.find(provider)),
    );
    const made = { text: describe(model, providers), headers };
    answerers.set(model, made);
    return made;
  };
  return {
    of(exchange, namespace) {
      const { request, identity, model, operation } = exchange;
      if (request === undefined || identity === undefined || model === undefined) {
        throw new GatewayError(
          "internal_error",
          "The step cache ran without a request, an identity or a model.",
        );
      }
      let holder = holders.get(identity);
      if (holder === undefined) holders.set(identity, (holder = holderOf(identity, scope)));
      const answerer = answererOf(model);
      const digest = new CanonicalDigest()
        .text(holder)
        .text(namespace)
        .text(operation)
        .text(answerer.text);
      const headers = [...sentHeaders(exchange, answerer.headers), ...addedHeaders(exchange)];
      if (headers.length > 0) digest.text("headers").value(headers);
      // With it, the provider may not have seen a parameter.
      if (request.fields.drop_params === true) digest.text("drop_params");
      if (model.targets.some(({ forwardMetadata }) => forwardMetadata === true))
        digest.text(JSON.stringify(request.metadata));
      digest.document(
        request.document,
        operation === "embeddings" ? OMITTED_OF_EMBEDDINGS : OMITTED,
      );
      // An upstream of the client's dialect gets its document, which says more than the
      // translation.
      if (request.native !== undefined && dialects.has(request.native.dialect))
        addNative(digest, request.native);
      return `cache:${holder}:${digest.end()}`;
    },
    flightOf(exchange, key, inputs = []) {
      const { request } = exchange;
      return request === undefined
        ? key
        : flightKey(key, request, sentHeaders(exchange, ofAll), inputs);
    },
  };
}

/** The client dialects that some upstream takes. */
function dialectsOf(providers: ProviderCatalog): ReadonlySet<string> {
  return new Set(
    providers.names().flatMap((name) => providers.find(name)?.translation.dialects ?? []),
  );
}

function addNative(
  digest: CanonicalDigest,
  { dialect, headers, document, endpoint }: NativeRequest,
): void {
  digest.text(dialect).value(headers).document(document, OMITTED_OF_NATIVE);
  if (endpoint !== undefined) digest.text("endpoint").text(endpoint);
}

function flightKey(
  key: string,
  request: GatewayRequest,
  headers: readonly string[],
  inputs: readonly string[],
): string {
  const { fields, stream, document } = request;
  const form = `${key}:${stream ? "stream" : "whole"}`;
  if (
    inputs.length === 0 &&
    headers.length === 0 &&
    FLIGHT_FIELDS.every((name) => fields[name] === undefined)
  )
    return form;
  const rules = FLIGHT_FIELDS.filter((name) => fields[name] !== undefined).map((name) => [
    name,
    fields[name],
  ]);
  const digest = new CanonicalDigest()
    .value(document.value.encoding_format)
    .text(JSON.stringify(rules))
    .value(headers);
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
