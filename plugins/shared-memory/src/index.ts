/** @sluice/shared-memory: limits, budgets, cache and repeats within one process. */

import { defineState } from "@sluice/kit";
import { parseSize } from "@sluice/runtime";
import { createDecisions, createRecords } from "@sluice/runtime/state";
import { createMemoryCache } from "./cache.ts";

/** The options of the memory driver, sizes as written. */
export interface MemoryConfig {
  readonly max_keys: number;
  readonly cache_size: string;
  readonly max_entry: string;
}

/** The `memory` driver: every decision is one synchronous call. */
export default defineState<MemoryConfig>({
  name: "memory",
  stability: "beta",
  summary:
    "In this process. For one gateway; what is kept ends with the process, budgets are read from the ledger again.",
  isRemote: false,
  config: {
    type: "object",
    additionalProperties: false,
    properties: {
      max_keys: {
        type: "integer",
        minimum: 100,
        maximum: 10_000_000,
        default: 50_000,
        description:
          "Windows, counts of requests under way and budgets kept at most, each. Beyond it what is idle is forgotten first.",
        examples: [200_000],
      },
      cache_size: {
        type: "string",
        format: "size",
        default: "64mb",
        description:
          "Bytes of all replies in the cache together. Beyond it a key with more than its share loses its own replies first, else the one that was not asked for the longest goes.",
        examples: ["1gb"],
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
  largestEntry: ({ max_entry: entry, cache_size: all }) =>
    Math.min(parseSize(entry) ?? 0, parseSize(all) ?? 0),
  create(config, { clock }) {
    const maxEntryBytes = parseSize(config.max_entry) ?? 0;
    const maxBytes = parseSize(config.cache_size) ?? 0;
    return {
      ...createDecisions({ clock, maxKeys: config.max_keys }),
      cache: createMemoryCache({ clock, maxBytes, maxEntryBytes }),
      records: createRecords({ clock, maxBytes, maxEntryBytes }),
      start: async () => {},
      stop: async () => {},
    };
  },
});
