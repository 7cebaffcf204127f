/** The step `cache`: an identical request gets the reply that is kept, or that of a twin under way. */

import { defineStep } from "@sluice/kit";
import type { Exchange, GatewayRequest, Host, Reply } from "@sluice/spec";
import { CACHE_HEADER, type CacheParts, findEntry, runShared } from "./cache-call.ts";
import { type CacheConfig, cacheFaults, cacheSchema, parseCacheConfig } from "./cache-config.ts";
import { runEmbeddings } from "./cache-embeddings.ts";
import { type Entry, servedFrom } from "./cache-entry.ts";
import { Flights, type Landing } from "./cache-flight.ts";
import { createCacheKeys, flightKey } from "./cache-key.ts";
import { keepReply, replyOf } from "./cache-reply.ts";
import { mayWish, wishOf } from "./cache-wish.ts";
import { isAskedAgain } from "./guardrails-again.ts";

export const cache = defineStep<CacheConfig>({
  name: "cache",
  sharesState: true,
  stability: "beta",
  summary:
    "Answers an identical request with the reply that is kept, and requests that are identical at the same time with one call.",
  config: cacheSchema,
  check: cacheFaults,
  largestEntry: (config) => parseCacheConfig(config).maxEntryBytes,
  operations: ["chat", "embeddings", "images"],
  concurrent: true,
  provides: ["cached_reply"],
  requires: [{ capability: "identity", reason: "without a key it would show one tenant the replies of another" }],
  before: [
    { capability: "fallback", reason: "it would ask for a stand-in although a reply is kept" },
    { capability: "hedge", reason: "a kept reply needs no second attempt" },
    { capability: "target", reason: "it would choose a deployment although a reply is kept" },
    { capability: "retry", reason: "a retry would ask the cache again" },
  ],
  create(config, host) {
    const options = parseCacheConfig(config);
    const parts: CacheParts = {
      host,
      options,
      keys: createCacheKeys(options.scope, host.providers),
      flights: host.shared("cache:flights", () => new Flights()),
    };
    return {
      enter(exchange) {
        const { request, headers } = exchange;
        if (mayWish(request, options) && !isAskedAgain(exchange)) return true;
        headers.set(CACHE_HEADER, "bypass");
        return false;
      },
      async run(ctx, next) {
        const { exchange } = ctx;
        const { request } = exchange;
        const wish = wishOf(exchange, options);
        if (wish === undefined || exchange.model === undefined || request === undefined) {
          exchange.headers.set(CACHE_HEADER, "bypass");
          return next();
        }
        exchange.headers.set(CACHE_HEADER, "miss");
        if (exchange.operation === "embeddings") return runEmbeddings(ctx, next, wish, parts);
        // Chat and images: one entry for a request.
        const key = parts.keys.of(exchange, wish.namespace);
        const found = wish.reads ? findEntry(host.state.cache, key, wish, host) : undefined;
        const entry = found instanceof Promise ? await found : found;
        const reply = entry === undefined ? undefined : replyOf(entry, request);
        if (entry !== undefined && reply !== undefined) return serve(exchange, entry, reply, host);
        const store = (landing: Landing): Promise<void> | undefined => keepReply(exchange, landing, key, wish, parts);
        const ask = wantingUsage(request);
        return runShared({ ctx, next, wish, parts, key: flightKey(key, request), ask, store });
      },
    };
  },
});

/** A stream is kept with its usage: whoever asks for it next may want it. */
function wantingUsage(request: GatewayRequest): GatewayRequest {
  return request.stream && !request.includeUsage ? { ...request, includeUsage: true } : request;
}

function serve(exchange: Exchange, entry: Entry, reply: Reply, { clock }: Host): void {
  exchange.headers.set(CACHE_HEADER, "hit");
  exchange.note("cache", "answered from an entry");
  exchange.served = servedFrom(entry, exchange.model, exchange.startedAtMs, clock.now());
  exchange.reply = reply;
}
