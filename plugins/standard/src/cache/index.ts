/**
 * The step `cache`: an identical request gets the stored reply, or the reply of a running duplicate
 * request.
 */

import { SERVED } from "@sluice/runtime";
import { defineStep } from "@sluice/kit";
import type { Exchange, GatewayRequest, Host, Reply } from "@sluice/contract";
import { CACHE_HEADER, type CacheParts, findEntry, runShared } from "./call.ts";
import { type CacheConfig, cacheFaults, cacheSchema, parseCacheConfig } from "./config.ts";
import { runEmbeddings } from "./embeddings.ts";
import { type Entry, servedFrom } from "./entry.ts";
import { SingleFlightGroup, type FlightResult } from "./single-flight.ts";
import { createCacheKeys } from "./key.ts";
import { keepReply, replyOf } from "./reply.ts";
import { mayUseCache, directivesOf } from "./directives.ts";
import { isAskedAgain } from "../guardrails/again.ts";

export const cache = defineStep<CacheConfig>({
  name: "cache",
  stability: "beta",
  summary:
    "Answers an identical request with the reply that is kept, and requests that are identical at the same time with one call.",
  config: cacheSchema,
  check: cacheFaults,
  operations: ["chat", "embeddings", "images"],
  traits: { concurrent: true, sharesState: true },
  order: {
    provides: ["cached_reply"],
    requires: [
      {
        capability: "identity",
        reason: "without a key, one tenant would get the replies of another",
      },
    ],
    before: [
      {
        capability: "fallback",
        reason: "it would call a fallback model although a reply is stored",
      },
      { capability: "hedge", reason: "a stored reply needs no second attempt" },
      { capability: "target", reason: "it would choose a deployment although a reply is stored" },
      { capability: "retry", reason: "a retry would read the cache again" },
    ],
  },
  inspect: (config) => ({ largestEntry: parseCacheConfig(config).maxEntryBytes }),
  create(config, host) {
    const options = parseCacheConfig(config);
    const parts: CacheParts = {
      host,
      options,
      keys: createCacheKeys(options.scope, host.providers),
      flights: host.shared("cache:flights", () => new SingleFlightGroup()),
    };
    return {
      enter(exchange) {
        const { request, headers } = exchange;
        if (mayUseCache(request, options) && !isAskedAgain(exchange)) return true;
        headers.set(CACHE_HEADER, "bypass");
        return false;
      },
      async run(ctx, next) {
        const { exchange } = ctx;
        const { request } = exchange;
        const directives = directivesOf(exchange, options);
        if (directives === undefined || exchange.model === undefined || request === undefined) {
          exchange.headers.set(CACHE_HEADER, "bypass");
          return next();
        }
        exchange.headers.set(CACHE_HEADER, "miss");
        if (exchange.operation === "embeddings") return runEmbeddings(ctx, next, directives, parts);
        // Chat and images: one entry for a request.
        const key = parts.keys.of(exchange, directives.namespace);
        const found = directives.reads
          ? findEntry(host.state.cache, key, directives, host)
          : undefined;
        const entry = found instanceof Promise ? await found : found;
        const reply = entry === undefined ? undefined : replyOf(entry, request);
        if (entry !== undefined && reply !== undefined) return serve(exchange, entry, reply, host);
        const store = (result: FlightResult): Promise<void> | undefined =>
          keepReply(exchange, result, key, directives, parts);
        const ask = wantingUsage(request);
        return runShared({
          ctx,
          next,
          directives,
          parts,
          key: parts.keys.flightOf(exchange, key),
          ask,
          store,
        });
      },
    };
  },
});

/** A stream is stored with its usage: a later request may ask for it. */
function wantingUsage(request: GatewayRequest): GatewayRequest {
  return request.stream && !request.includeUsage ? { ...request, includeUsage: true } : request;
}

function serve(exchange: Exchange, entry: Entry, reply: Reply, { clock }: Host): void {
  exchange.headers.set(CACHE_HEADER, "hit");
  exchange.note("cache", "answered from an entry");
  SERVED.set(
    exchange,
    servedFrom(entry, exchange.model, exchange.lifetime.startedAtMs, clock.now()),
  );
  exchange.reply = reply;
}
