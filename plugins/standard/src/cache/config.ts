/** The options of the step `cache`. */

import { parseDuration } from "@sluice/kit";
import { parseSize } from "@sluice/runtime";
import type { ConfigFault, JsonSchema } from "@sluice/contract";

/** The scope that shares entries. */
export type CacheScope = "key" | "user" | "team" | "global";

/** Options of the step `cache` in YAML. */
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
      description:
        "`always`: every request. `on_request`: requests with `caching: true` or a `cache` object.",
    },
    ttl: {
      type: "string",
      format: "duration",
      default: "10m",
      description: "Lifetime of a stored reply. The request's `cache.ttl` wins.",
      examples: ["1h"],
    },
    max_ttl: {
      type: "string",
      format: "duration",
      default: "24h",
      description: "Maximum of a request's `cache.ttl`. A longer one is shortened to it.",
      examples: ["7d"],
    },
    scope: {
      type: "string",
      enum: ["key", "user", "team", "global"],
      default: "key",
      description:
        "Whose requests share replies: those of one key, of one user, of one team, or of all keys. A key without a user or team is on its own.",
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
      description:
        "Requests identical to a running one in this process get its reply without an upstream call (single-flight).",
    },
  },
};

/** Faults that the schema cannot express. */
export function cacheFaults(config: CacheConfig): readonly ConfigFault[] {
  const { ttlMs, maxTtlMs, maxEntryBytes } = parseCacheConfig(config);
  const faults: ConfigFault[] = [];
  if (ttlMs === 0) {
    const fix = "write `1s` or more, or remove the step";
    faults.push({ path: ["ttl"], message: "no reply would be stored", fix });
  } else if (ttlMs > maxTtlMs) {
    const message = `a reply is stored for at most \`max_ttl\`, which is ${config.max_ttl}`;
    faults.push({
      path: ["ttl"],
      message,
      fix: `write ${config.max_ttl} or less, or raise \`max_ttl\``,
    });
  }
  if (maxEntryBytes === 0) {
    faults.push({
      path: ["max_entry"],
      message: "no reply would be stored",
      fix: "write `64kb` or more, or remove the step",
    });
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
