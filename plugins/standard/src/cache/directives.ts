/** The cache directives of a request and its key. */

import { isStorable } from "@sluice/kit/internals";
import { guardrailOutcomes } from "@sluice/runtime";
import { isObject } from "@sluice/kit";
import {
  type Exchange,
  GatewayError,
  type GatewayFields,
  type GatewayRequest,
  type Identity,
  type JsonObject,
} from "@sluice/contract";
import type { CacheOptions } from "./config.ts";

/** The permitted uses of the cache for a request. */
export interface CacheDirectives {
  /** An entry may answer. */
  readonly reads: boolean;
  /** The reply may be stored. */
  readonly stores: boolean;
  readonly ttlMs: number;
  /** The maximum age of an entry that answers. */
  readonly maxAgeMs: number;
  readonly namespace: string;
}

const NO_CONTROLS: JsonObject = Object.freeze({});

/** Whether the request may use the cache: it has cache fields, or every request does. */
export function mayUseCache(
  request: GatewayRequest | undefined,
  { isAlways }: CacheOptions,
): boolean {
  return (
    request !== undefined &&
    (isAlways || request.fields.caching !== undefined || request.fields.cache !== undefined)
  );
}

/**
 * The directives of a request; `undefined` when the cache does not apply to it. Throws
 * `permission_denied` for a control that the key's `allowed_cache_controls` leave out.
 */
export function directivesOf(
  exchange: Exchange,
  options: CacheOptions,
): CacheDirectives | undefined {
  const { request, identity } = exchange;
  if (request === undefined || identity === undefined) return undefined;
  const { fields } = request;
  const controls = isObject(fields.cache) ? fields.cache : NO_CONTROLS;
  if (controls !== NO_CONTROLS) checkAllowed(controls, identity);
  if (fields.caching === false || !isFit(exchange) || keepsNothing(identity)) return undefined;
  if (!options.isAlways && !hasAsked(fields, controls)) return undefined;
  const ttlMs = Math.min(milliseconds(controls.ttl) ?? options.ttlMs, options.maxTtlMs);
  const reads = controls["no-cache"] !== true;
  const stores = controls["no-store"] !== true && ttlMs > 0;
  if (!reads && !stores) return undefined;
  const { namespace } = controls;
  return {
    reads,
    stores,
    ttlMs,
    maxAgeMs: milliseconds(controls["s-maxage"]) ?? Infinity,
    namespace: typeof namespace === "string" ? namespace : "",
  };
}

/**
 * Whether the reply may be stored: no step marked it, and no guardrail blocked, edited or failed.
 */
export function isFit(exchange: Exchange): boolean {
  // An observing guardrail has changed nothing.
  return (
    isStorable(exchange) &&
    guardrailOutcomes(exchange).every(
      ({ verdict, mode }) => verdict === "allow" || mode !== "enforce",
    )
  );
}

/** Whether no content of a key's requests may be stored. */
export function keepsNothing({ metadata }: Identity): boolean {
  return metadata.no_store === true;
}

function hasAsked({ caching }: GatewayFields, controls: JsonObject): boolean {
  return caching === true || controls !== NO_CONTROLS;
}

function milliseconds(seconds: unknown): number | undefined {
  return typeof seconds === "number" ? seconds * 1_000 : undefined;
}

function checkAllowed(controls: JsonObject, { metadata }: Identity): void {
  const { allowed_cache_controls: allowed } = metadata;
  if (!Array.isArray(allowed)) return;
  const refused = Object.keys(controls).find(
    (name) => controls[name] !== null && !allowed.includes(name),
  );
  if (refused === undefined) return;
  throw new GatewayError(
    "permission_denied",
    `This key may not set the cache control ${JSON.stringify(refused.slice(0, 80))}.`,
    {
      param: "cache",
    },
  );
}
