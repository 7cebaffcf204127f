/**
 * @sluice/shared-redis: limits, budgets, cache and repeats that several gateways share in Redis.
 */

import { type ConfigFault, errorMessage } from "@sluice/contract";
import { defineState, parseDuration } from "@sluice/kit";
import { parseSize } from "@sluice/runtime";
import { ENDPOINT_OPTIONS } from "./connection/endpoint-options.ts";
import { type EndpointOptions, endpointsOf } from "./connection/endpoints.ts";
import { createCluster } from "./servers/cluster.ts";
import { createSingleServer } from "./servers/single.ts";
import type { Servers } from "./servers/servers.ts";
import { BULK_TIMEOUT_MS } from "./state/bulk.ts";
import { createRedisState } from "./state/driver.ts";

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
          "What every key begins with. The braces keep all keys of `url` on one node, where it is one of a cluster; `cluster` ignores them.",
        examples: ["{sluice-staging}:"],
      },
      command_timeout: {
        type: "string",
        format: "duration",
        default: "50ms",
        description:
          "How long Redis may be silent while a decision waits. Beyond it, or after a second in a long queue (this time if longer), the gateway decides by itself.",
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
    const endpoints = endpointsOf(config);
    const options = {
      commandTimeoutMs: parseDuration(config.command_timeout) ?? 50,
      connectTimeoutMs: parseDuration(config.connect_timeout) ?? 1_000,
      log,
    };
    const serversWith = (commandTimeoutMs: number): Servers =>
      endpoints.kind === "cluster"
        ? createCluster({ ...options, commandTimeoutMs, endpoints }, config.prefix)
        : createSingleServer({ ...options, commandTimeoutMs, endpoints }, config.prefix);
    const servers = serversWith(options.commandTimeoutMs);
    const bulk = serversWith(Math.max(BULK_TIMEOUT_MS, options.commandTimeoutMs));
    return createRedisState({ servers, bulk, log }, parseSize(config.max_entry) ?? 0);
  },
});

/** The faults of the options that no schema finds. */
function faultsOf(config: RedisConfig): readonly ConfigFault[] {
  const { url, sentinels, cluster, master, database, tls } = config;
  const fault = (key: string, message: string, fix: string): ConfigFault[] => [
    { path: [key], message, fix },
  ];
  if ([url, sentinels, cluster].filter((one) => one !== undefined).length !== 1)
    return fault(
      "url",
      "`shared` needs one of `url`, `sentinels` and `cluster`",
      "keep one of them",
    );
  if (sentinels !== undefined && master === undefined)
    return fault("master", "`shared.sentinels` needs `master`", "add `master: <name>`");
  if (sentinels === undefined && master !== undefined)
    return fault("master", "`shared.master` needs `sentinels`", "remove it, or list `sentinels`");
  if (cluster !== undefined && (database ?? 0) !== 0)
    return fault("database", "a cluster has the database 0 alone", "remove `database`");
  const text = url?.reveal();
  if (text !== undefined && !(/^rediss?:\/\//.test(text) && URL.canParse(text)))
    return fault(
      "url",
      "`shared.url` is not the address of a Redis",
      "write `redis://host:6379`, or `rediss://` for TLS",
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
