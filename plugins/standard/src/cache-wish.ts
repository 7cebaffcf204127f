/** What a request and its key say about caching. */

import { isObject } from "@sluice/kit";
import {
  type Exchange,
  GatewayError,
  type GatewayFields,
  type GatewayRequest,
  type Identity,
  type JsonObject,
} from "@sluice/spec";
import type { CacheOptions } from "./cache-config.ts";

/** What may be done for a request. */
export interface CacheWish {
  /** An entry may answer. */
  readonly reads: boolean;
  /** The reply may be kept. */
  readonly stores: boolean;
  readonly ttlMs: number;
  /** The oldest entry that may answer. */
  readonly maxAgeMs: number;
  readonly namespace: string;
}

const NO_CONTROLS: JsonObject = Object.freeze({});

/** Whether a request needs a closer look: it says something about caching, or every request has a part in it. */
export function mayWish(request: GatewayRequest | undefined, { isAlways }: CacheOptions): boolean {
  return request !== undefined && (isAlways || request.fields.caching !== undefined || request.fields.cache !== undefined);
}

/**
 * The wish of a request; `undefined` when the cache has no part in it. Throws `permission_denied` for a control that the key's
 * `allowed_cache_controls` leave out.
 */
export function wishOf(exchange: Exchange, options: CacheOptions): CacheWish | undefined {
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

/** Whether nobody objects to keeping the reply: no step, and no guardrail by blocking, editing or failing. */
export function isFit({ isStorable, guardrails }: Exchange): boolean {
  // Whoever only looks on has changed nothing, and changes nothing here.
  return isStorable && guardrails.every(({ verdict, mode }) => verdict === "allow" || mode !== "enforce");
}

/** Whether nothing that a key's requests hold may be kept. */
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
  const refused = Object.keys(controls).find((name) => controls[name] !== null && !allowed.includes(name));
  if (refused === undefined) return;
  throw new GatewayError("permission_denied", `This key may not set the cache control ${JSON.stringify(refused.slice(0, 80))}.`, {
    param: "cache",
  });
}
