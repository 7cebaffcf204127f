/** The step `responses`: stores replies of a face for later requests of the same key. */

import { defineStep, parseDuration, passOn } from "@sluice/kit";
import { KEEPER, parseSize, replyHold } from "@sluice/runtime";
import type { ConfigFault, Exchange, Host, JsonObject } from "@sluice/contract";
import { keepsNothing } from "../cache/directives.ts";
import { beginRun, type DetachedLimits, type KeptRun } from "./detached/detached-run.ts";
import { Runs } from "./detached/runs.ts";
import { ResponseStore, type StoreResult } from "./store.ts";

/** Options of the step `responses` in YAML. */
export interface ResponsesConfig {
  readonly store: "on" | "off";
  readonly ttl: string;
  readonly max_entry: string;
  readonly max_per_key: string;
  readonly max_total: string;
  readonly background: "on" | "off";
  readonly max_background_per_key: number;
  readonly max_background: number;
  readonly max_events: string;
}

export const responses = defineStep<ResponsesConfig>({
  name: "responses",
  stability: "experimental",
  summary:
    "Stores responses for `previous_response_id` and for reading them: encrypted, for a time, for the key that asked.",
  config: {
    type: "object",
    properties: {
      store: {
        type: "string",
        enum: ["on", "off"],
        default: "on",
        description:
          "`off`: nothing is stored. Replies say `store: false`, and a `previous_response_id` is refused.",
      },
      ttl: {
        type: "string",
        format: "duration",
        default: "24h",
        description: "Lifetime of a stored response.",
        examples: ["1h"],
      },
      max_entry: {
        type: "string",
        format: "size",
        default: "2mb",
        description:
          "The largest response that is stored, with its whole conversation. A larger one says `store: false`. The driver in `shared` has a bound of its own.",
        examples: ["4mb"],
      },
      max_per_key: {
        type: "string",
        format: "size",
        default: "64mb",
        description:
          "Bytes of the stored responses of one key. Beyond it the key's oldest ones go first.",
        examples: ["256mb"],
      },
      max_total: {
        type: "string",
        format: "size",
        default: "1gb",
        description:
          "Bytes of the stored responses of all keys. Beyond it the key with the most loses its oldest ones first. The memory driver also counts them in `cache_size`.",
        examples: ["8gb"],
      },
      background: {
        type: "string",
        enum: ["on", "off"],
        default: "on",
        description:
          "`off`: `background: true` is refused. Responses in the background also need `store: on`.",
      },
      max_background_per_key: {
        type: "integer",
        minimum: 1,
        maximum: 100_000,
        default: 16,
        description:
          "Responses in the background that a key may have under way, at all gateways with the same shared state. A further one is a 429.",
        examples: [4],
      },
      max_background: {
        type: "integer",
        minimum: 1,
        maximum: 100_000,
        default: 256,
        description:
          "Responses in the background that one process may have under way. One key, or the keys of one team, gets at most half of them, and less beside others. A further one is a 503.",
        examples: [1_000],
      },
      max_events: {
        type: "string",
        format: "size",
        default: "4mb",
        description:
          "Bytes of the events of one response in the background with `stream: true`, compressed. Those beyond it are not stored: a client that comes back for them gets an error, and reads the response itself. Events count in `max_per_key` and `max_total`.",
        examples: ["16mb"],
      },
    },
  },
  check: configFaults,
  operations: ["chat", "tokens"],
  traits: { sharesState: true, keepsReplies: true },
  order: {
    requires: [{ capability: "identity", reason: "a stored response belongs to a key" }],
  },
  inspect: (config) => ({
    largestEntry: config.store === "on" ? limitsOf(config).maxEntryBytes : 0,
  }),
  create(config, host) {
    const limits = limitsOf(config);
    const store = new ResponseStore(host);
    const { log } = host;
    const runs = openRuns(host);
    runs.reportTo(host.metrics);
    const detached = { store, runs, limits, log };
    return {
      beforeBody(exchange) {
        const { identity } = exchange;
        if (config.store === "off" || identity === undefined || keepsNothing(identity)) return;
        const { keyId } = identity;
        KEEPER.set(exchange, {
          find: (ids) => findAll(store, keyId, ids, exchange),
          keep(id, entry) {
            const kept = store.keep(keyId, id, entry, limits);
            return kept instanceof Promise
              ? kept.then((result) => isStored(result, exchange))
              : isStored(kept, exchange);
          },
          ...(config.background === "off"
            ? {}
            : { begin: (reply) => beginRun(detached, identity, reply) }),
        });
      },
      enter: () => false,
      run: passOn,
    };
  },
});

/** The responses in the background of this process, shared by every pipeline and generation. */
export function openRuns(host: Host): Runs<KeptRun> {
  return host.shared("responses-in-the-background", () => new Runs<KeptRun>(host));
}

function limitsOf(config: ResponsesConfig): DetachedLimits {
  return {
    maxPerKey: config.max_background_per_key,
    maxRuns: config.max_background,
    maxEventBytes: parseSize(config.max_events) ?? 0,
    ttlMs: parseDuration(config.ttl) ?? 0,
    maxEntryBytes: parseSize(config.max_entry) ?? 0,
    maxKeyBytes: parseSize(config.max_per_key) ?? 0,
    maxTotalBytes: parseSize(config.max_total) ?? 0,
  };
}

function configFaults(config: ResponsesConfig): readonly ConfigFault[] {
  const { ttlMs, maxEntryBytes, maxKeyBytes, maxTotalBytes } = limitsOf(config);
  if (ttlMs === 0) {
    const fix = "write `1m` or more, or `store: off`";
    return [{ path: ["ttl"], message: "no response would be stored", fix }];
  }
  const names = ["max_entry", "max_per_key", "max_total"] as const;
  const sizes = [maxEntryBytes, maxKeyBytes, maxTotalBytes];
  const index = sizes.findIndex((size, at) => size < (at === 0 ? 1 : (sizes[at - 1] ?? 0)));
  const name = names[index];
  if (name === undefined) return [];
  return [
    {
      path: [name],
      message:
        index === 0
          ? "no response would be stored"
          : `\`${name}\` is less than \`${names[index - 1] ?? ""}\``,
      fix: index === 0 ? "write `64kb` or more, or `store: off`" : "raise it, or lower the other",
    },
  ];
}

async function findAll(
  store: ResponseStore,
  keyId: string,
  ids: readonly string[],
  exchange: Exchange,
): Promise<ReadonlyMap<string, JsonObject>> {
  const hold = replyHold(exchange);
  const found = await Promise.all(
    ids.map(async (id) => [id, await store.find(keyId, id, hold)] as const),
  );
  return new Map(
    found.flatMap(([id, entry]) => (entry === undefined ? [] : [[id, entry] as const])),
  );
}

const NOTES: Readonly<Record<StoreResult, string>> = {
  stored: "stored the response",
  "too large": "did not store the response: it is larger than max_entry",
  "refused by the shared state": "did not store the response: the shared state did not take it",
};

function isStored(result: StoreResult, exchange: Exchange): boolean {
  exchange.note("responses", NOTES[result]);
  return result === "stored";
}
