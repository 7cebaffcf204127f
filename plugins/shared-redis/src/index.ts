/**
 * @sluice/shared-redis: limits, budgets, cache and repeats that several gateways share in Redis.
 */

import type { ConfigFault, Secret } from "@sluice/contract";
import { defineState, parseDuration } from "@sluice/kit";
import { parseSize } from "@sluice/runtime";
import { createConnection } from "./connection.ts";
import { createRedisState } from "./driver.ts";

/** The options of the Redis driver. */
export interface RedisConfig {
  readonly url: Secret;
  readonly prefix: string;
  readonly command_timeout: string;
  readonly connect_timeout: string;
  readonly max_entry: string;
}

/** The `redis` driver: one script for each decision, the server's clock. */
export default defineState<RedisConfig>({
  name: "redis",
  stability: "beta",
  summary: "In Redis, for several gateways. While it is away each gateway decides by itself.",
  isRemote: true,
  config: {
    type: "object",
    additionalProperties: false,
    required: ["url"],
    properties: {
      url: {
        type: "string",
        minLength: 1,
        "x-secret": true,
        description:
          "Where Redis is: `redis://user:password@host:6379/0`, `rediss://` for TLS. Written as a reference.",
        examples: ["${env:REDIS_URL}"],
      },
      prefix: {
        type: "string",
        minLength: 1,
        maxLength: 64,
        default: "{sluice}:",
        description:
          "What every key begins with. The braces keep all keys on one node of a cluster, where the scripts need them.",
        examples: ["{sluice-staging}:"],
      },
      command_timeout: {
        type: "string",
        format: "duration",
        default: "50ms",
        description:
          "How long Redis may be silent while a decision waits. Beyond it, or after a second in a long queue, the gateway decides by itself.",
        examples: ["100ms"],
      },
      connect_timeout: {
        type: "string",
        format: "duration",
        default: "1s",
        description: "How long opening a connection may take.",
        examples: ["3s"],
      },
      max_entry: {
        type: "string",
        format: "size",
        default: "4mb",
        description: "The largest reply that is kept, in the cache and for repeats.",
        examples: ["16mb"],
      },
    },
  },
  check({ url }): readonly ConfigFault[] {
    const text = url.reveal();
    if (/^rediss?:\/\//.test(text) && URL.canParse(text)) return [];
    return [
      {
        path: ["url"],
        message: "`shared.url` is not the address of a Redis",
        fix: "write `redis://host:6379` into the variable",
      },
    ];
  },
  largestEntry: (config) => parseSize(config.max_entry) ?? 0,
  create(config, { log }) {
    const connection = createConnection({
      url: config.url.reveal(),
      commandTimeoutMs: parseDuration(config.command_timeout) ?? 50,
      connectTimeoutMs: parseDuration(config.connect_timeout) ?? 1_000,
      log,
    });
    return createRedisState({
      connection,
      prefix: config.prefix,
      maxEntryBytes: parseSize(config.max_entry) ?? 0,
    });
  },
});
