/**
 * @sluice/shared-redis: limits, budgets, cache and repeats that several gateways share in Redis.
 */

import { type ConfigFault, errorMessage } from "@sluice/contract";
import { defineState, parseDuration } from "@sluice/kit";
import { parseSize } from "@sluice/runtime";
import { createConnection } from "./connection.ts";
import { createRedisState } from "./driver.ts";
import { type EndpointOptions, endpointsOf } from "./endpoints.ts";
import { ENDPOINT_OPTIONS } from "./endpoint-options.ts";

/** The options of the Redis driver. */
export interface RedisConfig extends EndpointOptions {
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
    properties: {
      ...ENDPOINT_OPTIONS,
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
  check: faultsOf,
  largestEntry: (config) => parseSize(config.max_entry) ?? 0,
  create(config, { log }) {
    const connection = createConnection({
      endpoints: endpointsOf(config),
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

/** The faults of the options that no schema finds. */
function faultsOf(config: RedisConfig): readonly ConfigFault[] {
  const { url, sentinels, master, tls } = config;
  const fault = (key: string, message: string, fix: string): ConfigFault[] => [
    { path: [key], message, fix },
  ];
  if ((url === undefined) === (sentinels === undefined))
    return fault("url", "`shared` needs either `url` or `sentinels`", "keep one of them");
  if (sentinels !== undefined && master === undefined)
    return fault("master", "`shared.sentinels` needs `master`", "add `master: <name>`");
  if (url !== undefined && master !== undefined)
    return fault("master", "`shared.master` needs `sentinels`", "remove it, or list `sentinels`");
  const text = url?.reveal();
  if (text !== undefined && !(/^rediss?:\/\//.test(text) && URL.canParse(text)))
    return fault(
      "url",
      "`shared.url` is not the address of a Redis",
      "write `redis://host:6379` into the variable",
    );
  if (tls !== undefined && (tls.cert === undefined) !== (tls.key === undefined))
    return fault("tls", "`shared.tls` needs both `cert` and `key`, or none", "add the other one");
  try {
    endpointsOf(config);
  } catch (error) {
    return fault(
      "tls",
      `a file of \`shared.tls\` is unreadable: ${errorMessage(error)}`,
      "correct the path",
    );
  }
  return [];
}
