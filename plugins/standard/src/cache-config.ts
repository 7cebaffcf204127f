/** The options of the step `cache`. */

import { parseDuration, parseSize } from "@sluice/kit";
import type { ConfigFault, JsonSchema } from "@sluice/spec";

/** Whose requests share entries. */
export type CacheScope = "key" | "user" | "team" | "global";

/** Options of the step `cache`, as YAML says them. */
export interface CacheConfig {
  readonly mode: "always" | "on_request";
  readonly ttl: string;
  readonly max_ttl: string;
  readonly scope: CacheScope;
  readonly max_entry: string;
  readonly collapse: boolean;
}

/** The options, parsed. */
export interface CacheOptions {
  readonly isAlways: boolean;
  readonly ttlMs: number;
  readonly maxTtlMs: number;
  readonly scope: CacheScope;
  readonly maxEntryBytes: number;
  readonly collapse: boolean;
}

/** The schema of the options. */
export const cacheSchema: JsonSchema = {
  type: "object",
  properties: {
    mode: {
      type: "string",
      enum: ["always", "on_request"],
      default: "on_request",
      description: "`always`: every request. `on_request`: those that say `caching: true` or bring a `cache` object.",
    },
    ttl: {
      type: "string",
      format: "duration",
      default: "10m",
      description: "How long a reply is kept where the request's `cache.ttl` does not say.",
      examples: ["1h"],
    },
    max_ttl: {
      type: "string",
      format: "duration",
      default: "24h",
      description: "The longest time that a request's `cache.ttl` may ask for; what is beyond is shortened to it.",
      examples: ["7d"],
    },
    scope: {
      type: "string",
      enum: ["key", "user", "team", "global"],
      default: "key",
      description:
        "Whose requests share replies: those of one key, of one user, of one team, or of everybody. A key without a user or team is on its own.",
    },
    max_entry: {
      type: "string",
      format: "size",
      default: "1mb",
      description:
        "The largest reply that is kept, and the longest beginning of a stream that a request may join. The driver in `shared` has a bound of its own.",
      examples: ["4mb"],
    },
    collapse: {
      type: "boolean",
      default: true,
      description: "Requests that are identical to one under way in this process get its reply, without a call of their own.",
    },
  },
};

/** Faults that the schema cannot express. */
export function cacheFaults(config: CacheConfig): readonly ConfigFault[] {
  const { ttlMs, maxTtlMs, maxEntryBytes } = parseCacheConfig(config);
  const faults: ConfigFault[] = [];
  if (ttlMs === 0) {
    const fix = "write `1s` or more, or remove the step";
    faults.push({ path: ["ttl"], message: "nothing would be kept", fix });
  } else if (ttlMs > maxTtlMs) {
    const message = `nothing is kept longer than \`max_ttl\`, which is ${config.max_ttl}`;
    faults.push({ path: ["ttl"], message, fix: `write ${config.max_ttl} or less, or raise \`max_ttl\`` });
  }
  if (maxEntryBytes === 0) {
    faults.push({ path: ["max_entry"], message: "nothing would be kept", fix: "write `64kb` or more, or remove the step" });
  }
  return faults;
}

/** The options of a checked configuration. */
export function parseCacheConfig(config: CacheConfig): CacheOptions {
  return {
    isAlways: config.mode === "always",
    ttlMs: parseDuration(config.ttl) ?? 0,
    maxTtlMs: parseDuration(config.max_ttl) ?? 0,
    scope: config.scope,
    maxEntryBytes: parseSize(config.max_entry) ?? 0,
    collapse: config.collapse,
  };
}
