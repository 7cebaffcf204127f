/** The parts of a process that serves no one: for commands and for tests of pipelines. */

import type { LedgerReader, Log, SharedState, SpendRow, TokenCounter } from "@sluice/contract";
import { createDecisions, createRecords } from "@sluice/runtime/state";
import type { ProcessParts } from "../generation/parts.ts";
import type { Definitions } from "../registry/definitions.ts";
import { KeyRing } from "../resources/key-ring.ts";
import { createSealer } from "../resources/sealer.ts";
import type { SharedPool } from "../resources/shared-pool.ts";
import { systemClock } from "../telemetry/clock.ts";
import { createMetrics } from "../telemetry/metrics.ts";

/** What the parts are made from. */
export interface OwnParts {
  readonly definitions: Definitions;
  readonly log: Log;
  readonly shared: SharedPool;
  readonly rows: readonly SpendRow[];
  readonly masterKey: string;
}

/** The parts of a process that shares nothing with the gateway. */
export function processOf({ definitions, log, shared, rows, masterKey }: OwnParts): ProcessParts {
  return {
    log,
    metrics: createMetrics(log),
    clock: systemClock,
    definitions,
    shared,
    keyRing: emptyKeyRing(masterKey),
    ledger: ledgerOf(rows),
    tokens: roughCounter,
    state: stateInMemory(),
    sealer: createSealer(Buffer.from(masterKey)),
  };
}

function emptyKeyRing(masterKey: string): KeyRing {
  const none = async () => undefined;
  const stores = { keys: { find: none, findByDigest: none }, teams: { find: none } };
  return new KeyRing({ pepper: Buffer.from(masterKey), masterKey, ...stores, clock: systemClock });
}

function ledgerOf(rows: readonly SpendRow[]): LedgerReader {
  return {
    rows: async () => rows.toReversed(),
    days: async () => [],
    tags: async () => [],
    report: async () => [],
    spent: async () => 0,
  };
}

/**
 * Typical characters per token. An exact count would start worker threads that the process may
 * never need.
 */
const CHARACTERS_PER_TOKEN = 4;

/** Counts by the length of texts. */
export const roughCounter: TokenCounter = {
  count(text) {
    const characters = [text].flat().reduce((sum, { length }) => sum + length, 0);
    return { tokens: Math.ceil(characters / CHARACTERS_PER_TOKEN), exact: true };
  },
};

/** In-memory state of one test. It lives for one request and needs no bounds. */
function stateInMemory(): SharedState {
  const kept = new Map<string, Uint8Array>();
  return {
    ...createDecisions({ clock: systemClock }),
    records: createRecords({ clock: systemClock }),
    cache: {
      get: (key) => kept.get(key),
      set: (key, bytes) => kept.set(key, bytes).has(key),
      delete: (key) => void kept.delete(key),
      purge: (prefix) =>
        [...kept.keys()].filter((key) => key.startsWith(prefix) && kept.delete(key)).length,
    },
  };
}
