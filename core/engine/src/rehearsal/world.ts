/** The world of one test: a generation of the candidate's snapshot in which nothing is real but the plugins. */

import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import type { GuardrailCatalog, LedgerReader, Log, SharedState, SpendRow, TokenCounter } from "@sluice/spec";
import { createDecisions, createRecords } from "@sluice/kit/state";
import { createScriptedUpstream, upstreamKey } from "@sluice/kit/transport";
import type { Finding } from "../config/finding.ts";
import type { PipelineTest, Snapshot } from "../config/snapshot.ts";
import { createFamilyFactors } from "../counting/family-factor.ts";
import { createProcessContainer, type ProcessParts, type StandIns } from "../generation/container.ts";
import { createFaults } from "../generation/create-faults.ts";
import { buildGeneration, type Generation } from "../generation/generation.ts";
import { createPublicApp } from "../http/public.ts";
import { emptyRecord, type ExchangeRecord } from "../pipeline/exchange-record.ts";
import type { Definitions } from "../registry/definitions.ts";
import { KeyRing } from "../resources/key-ring.ts";
import { RecentRequests } from "../resources/recent-requests.ts";
import { RequestShapes } from "../resources/request-shapes.ts";
import { SharedPool } from "../resources/shared-pool.ts";
import { systemClock } from "../telemetry/clock.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { CallBook } from "./call-book.ts";
import { rehearsingGuardrails } from "./guardrails.ts";
import { identityOf } from "./identity.ts";
import { withTestModels } from "./models.ts";
import { rehearsedSnapshot } from "./snapshot.ts";
import { rehearsingProviders } from "./providers.ts";

/** What is tested. */
export interface Rehearsed {
  readonly snapshot: Snapshot;
  readonly definitions: Definitions;
  /** Those of the candidate. */
  readonly guardrails: GuardrailCatalog;
}

/** A world that can be asked. */
export interface World {
  readonly handle: RequestListener;
  /** The credential of the test's key, `undefined` for a test without one. */
  readonly credential: string | undefined;
  readonly book: CallBook;
  readonly rows: readonly SpendRow[];
  /** What is known of a request, by its `x-request-id`. */
  record(id: string): ExchangeRecord | undefined;
  /** What the gateway would have logged of failures. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** Makes the world of a test. Rejects when a plugin cannot be made or started. */
export async function createWorld({ snapshot, definitions, guardrails }: Rehearsed, test: PipelineTest): Promise<World> {
  const clock = systemClock;
  const book = new CallBook(test.outcomes);
  const rows: SpendRow[] = [];
  const complaints: string[] = [];
  const log = complaining(complaints);
  const masterKey = randomUUID();
  const keyCredential = randomUUID();
  const shared = new SharedPool();
  const container = createProcessContainer(processOf({ definitions, log, shared, rows, masterKey }));
  const pipeline = snapshot.pipelines.find(({ tests }) => tests.includes(test));
  const identity = typeof test.key === "string" ? undefined : identityOf(test.key);
  const standIns: StandIns = {
    guardrails: rehearsingGuardrails(guardrails, definitions),
    authority: (real) => ({
      ...real,
      identify: (presented) => (presented === keyCredential ? identity : real.identify(presented)),
      mayUse: (who, model) => real.mayUse(who, model),
    }),
    catalog: (real) => withTestModels(real, pipeline?.operation ?? "chat"),
    providers(real) {
      const catalog = rehearsingProviders(real, book);
      for (const name of catalog.names()) {
        const instance = catalog.find(name);
        if (instance === undefined) continue;
        const options = { connections: instance.connections, connectMs: instance.timeouts.connectMs };
        // Held for the life of the world: whoever asks for connections to the provider gets these.
        shared.acquire(upstreamKey(name, options), () => createScriptedUpstream(options, (call) => book.answer(name, call)));
      }
      return catalog;
    },
  };
  const generation: Generation = await buildGeneration(container, rehearsedSnapshot(snapshot, definitions), 0, standIns);
  const recent = new RecentRequests<ExchangeRecord>(2, emptyRecord);
  const app = createPublicApp({
    log,
    clock,
    record: async (recorded) => void rows.push(...recorded),
    note: () => undefined,
    checkLedger: () => undefined,
    counting: { tokens: roughCounter, factors: createFamilyFactors() },
    sample: () => undefined,
    recent,
    shapes: new RequestShapes(1),
    metrics: { count: () => undefined, countUnrouted: () => undefined },
    live: () => generation,
    isReady: () => true,
  });
  return {
    handle: app.callback(),
    credential: test.key === "none" ? undefined : test.key === "master" ? masterKey : keyCredential,
    book,
    rows,
    record: (id) => recent.find(id),
    complaints,
    close: () => generation.drain(0),
  };
}

/**
 * Builds a generation that is beside any gateway, for a command: its guardrails have started and judged their samples. Throws a
 * BuildError, or what a plugin throws.
 */
export function buildAlone(snapshot: Snapshot, definitions: Definitions, log: Log): Promise<Generation> {
  const parts = { definitions, log, shared: new SharedPool(), rows: [], masterKey: randomUUID() };
  return buildGeneration(createProcessContainer(processOf(parts)), snapshot, 0);
}

/** What the plugins' `create` finds, without a gateway: none of them is started. Never rejects. */
export function createFaultsAlone(snapshot: Snapshot, definitions: Definitions, log: Log): Promise<readonly Finding[]> {
  const parts = { definitions, log, shared: new SharedPool(), rows: [], masterKey: randomUUID() };
  return createFaults(createProcessContainer(processOf(parts)), snapshot);
}

interface OwnParts {
  readonly definitions: Definitions;
  readonly log: Log;
  readonly shared: SharedPool;
  readonly rows: readonly SpendRow[];
  readonly masterKey: string;
}

/** A process in which nobody else lives. */
function processOf({ definitions, log, shared, rows, masterKey }: OwnParts): ProcessParts {
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
  };
}

function emptyKeyRing(masterKey: string): KeyRing {
  const nobody = async () => undefined;
  const stores = { keys: { findByDigest: nobody }, teams: { find: nobody } };
  return new KeyRing({ pepper: Buffer.from(masterKey), masterKey, ...stores, clock: systemClock });
}

function ledgerOf(rows: readonly SpendRow[]): LedgerReader {
  return { rows: async () => rows.toReversed(), days: async () => [], tags: async () => [], spent: async () => 0 };
}

/** Characters of a token, as a rule. Counting in earnest would start the workers of a process that may never need them. */
const CHARACTERS_PER_TOKEN = 4;

const roughCounter: TokenCounter = {
  count(text) {
    const characters = [text].flat().reduce((sum, { length }) => sum + length, 0);
    return { tokens: Math.ceil(characters / CHARACTERS_PER_TOKEN), exact: true };
  },
};

/** State of its own for one test, which needs no bounds: it lives for a request. */
function stateInMemory(): SharedState {
  const kept = new Map<string, Uint8Array>();
  return {
    ...createDecisions({ clock: systemClock }),
    records: createRecords({ clock: systemClock }),
    cache: {
      get: (key) => kept.get(key),
      set: (key, bytes) => kept.set(key, bytes).has(key),
      delete: (key) => void kept.delete(key),
      purge: (prefix) => [...kept.keys()].filter((key) => key.startsWith(prefix) && kept.delete(key)).length,
    },
  };
}

/** A log that keeps why something failed, and nothing else. */
function complaining(complaints: string[]): Log {
  const complain = (_message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const { error } = fields;
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof Error) complaints.push(cause.message);
  };
  const nothing = (): void => undefined;
  return { debug: nothing, info: nothing, warn: complain, error: complain };
}
