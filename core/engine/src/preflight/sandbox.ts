/** The sandbox of one test: a generation of the candidate's snapshot with real plugins and stand-ins for everything else. */

import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import type { GuardrailCatalog, LedgerReader, Log, SharedState, SpendRow, TokenCounter } from "@sluice/contract";
import { createDecisions, createRecords } from "@sluice/runtime/state";
import { createScriptedUpstream } from "@sluice/runtime/transport";
import { upstreamKey } from "@sluice/kit/internals";
import type { Finding } from "../config/finding.ts";
import type { PipelineTest, Snapshot } from "../config/snapshot.ts";
import { createFamilyFactors } from "../counting/family-factor.ts";
import type { ProcessParts, StandIns } from "../generation/parts.ts";
import { createFaults } from "../generation/create-faults.ts";
import { buildGeneration, type Generation } from "../generation/generation.ts";
import { createPublicApp } from "../http/public.ts";
import { emptyRecord, type ExchangeRecord } from "../accounting/exchange-record.ts";
import type { Definitions } from "../registry/definitions.ts";
import { KeyRing } from "../resources/key-ring.ts";
import { RecentRequests } from "../accounting/recent-requests.ts";
import { SharedPool } from "../resources/shared-pool.ts";
import { systemClock } from "../telemetry/clock.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { ScriptedUpstreamLog } from "./upstream-log.ts";
import { sandboxGuardrails } from "./guardrails.ts";
import { identityOf } from "./identity.ts";
import { withTestModels } from "./models.ts";
import { sandboxSnapshot } from "./snapshot.ts";
import { sandboxProviders } from "./providers.ts";

/** The candidate under test. */
export interface PreflightSubject {
  readonly snapshot: Snapshot;
  readonly definitions: Definitions;
  /** The started guardrails of the candidate. */
  readonly guardrails: GuardrailCatalog;
}

/** A sandbox that accepts requests. */
export interface Sandbox {
  readonly handle: RequestListener;
  /** The credential of the test's key, `undefined` for a test without one. */
  readonly credential: string | undefined;
  readonly upstreamLog: ScriptedUpstreamLog;
  readonly rows: readonly SpendRow[];
  /** The record of a request, found by its `x-request-id`. */
  record(id: string): ExchangeRecord | undefined;
  /** Causes of failures that the gateway would have logged. */
  readonly errors: readonly string[];
  close(): Promise<void>;
}

/** Creates the sandbox of a test. Rejects when a plugin cannot be created or started. */
export async function createSandbox(
  { snapshot, definitions, guardrails }: PreflightSubject,
  test: PipelineTest,
): Promise<Sandbox> {
  const clock = systemClock;
  const upstreamLog = new ScriptedUpstreamLog(test.outcomes);
  const rows: SpendRow[] = [];
  const errors: string[] = [];
  const log = errorLog(errors);
  const masterKey = randomUUID();
  const keyCredential = randomUUID();
  const shared = new SharedPool();
  const process = processOf({ definitions, log, shared, rows, masterKey });
  const pipeline = snapshot.pipelines.find(({ tests }) => tests.includes(test));
  const identity = typeof test.key === "string" ? undefined : identityOf(test.key);
  const standIns: StandIns = {
    guardrails: sandboxGuardrails(guardrails, definitions),
    authority: (real) => ({
      ...real,
      identify: (presented) => (presented === keyCredential ? identity : real.identify(presented)),
      mayUse: (who, model) => real.mayUse(who, model),
    }),
    catalog: (real) => withTestModels(real, pipeline?.operation ?? "chat"),
    providers(real) {
      const catalog = sandboxProviders(real, upstreamLog);
      for (const name of catalog.names()) {
        const instance = catalog.find(name);
        if (instance === undefined) continue;
        const options = { connections: instance.connections, connectMs: instance.timeouts.connectMs };
        // The sandbox holds these for its lifetime: every caller that asks for connections to the provider gets them.
        shared.acquire(upstreamKey(name, options), () =>
          createScriptedUpstream(options, (call) => upstreamLog.answer(name, call)),
        );
      }
      return catalog;
    },
  };
  const generation: Generation = await buildGeneration(process, sandboxSnapshot(snapshot, definitions), 0, standIns);
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
    metrics: { count: () => undefined, countUnrouted: () => undefined },
    live: () => generation,
    isReady: () => true,
  });
  return {
    handle: app.callback(),
    credential: test.key === "none" ? undefined : test.key === "master" ? masterKey : keyCredential,
    upstreamLog,
    rows,
    record: (id) => recent.find(id),
    errors,
    close: () => generation.drain(0),
  };
}

/**
 * Builds a generation without a gateway, for a command. Its guardrails have started and checked their samples. Rejects with a
 * BuildError, or with the error of a plugin.
 */
export function buildAlone(snapshot: Snapshot, definitions: Definitions, log: Log): Promise<Generation> {
  const parts = { definitions, log, shared: new SharedPool(), rows: [], masterKey: randomUUID() };
  return buildGeneration(processOf(parts), snapshot, 0);
}

/** The findings of the plugins' `create`, without a gateway. No plugin is started. Never rejects. */
export function createFaultsAlone(snapshot: Snapshot, definitions: Definitions, log: Log): Promise<readonly Finding[]> {
  const parts = { definitions, log, shared: new SharedPool(), rows: [], masterKey: randomUUID() };
  return createFaults(processOf(parts), snapshot);
}

interface OwnParts {
  readonly definitions: Definitions;
  readonly log: Log;
  readonly shared: SharedPool;
  readonly rows: readonly SpendRow[];
  readonly masterKey: string;
}

/** The parts of a process that shares nothing with the gateway. */
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
  const none = async () => undefined;
  const stores = { keys: { findByDigest: none }, teams: { find: none } };
  return new KeyRing({ pepper: Buffer.from(masterKey), masterKey, ...stores, clock: systemClock });
}

function ledgerOf(rows: readonly SpendRow[]): LedgerReader {
  return { rows: async () => rows.toReversed(), days: async () => [], tags: async () => [], spent: async () => 0 };
}

/** Typical characters per token. An exact count would start worker threads that the process may never need. */
const CHARACTERS_PER_TOKEN = 4;

const roughCounter: TokenCounter = {
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
      purge: (prefix) => [...kept.keys()].filter((key) => key.startsWith(prefix) && kept.delete(key)).length,
    },
  };
}

/** A log that collects the causes of warnings and errors in `errors`. */
function errorLog(errors: string[]): Log {
  const keep = (_message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const { error } = fields;
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof Error) errors.push(cause.message);
  };
  const nothing = (): void => undefined;
  return { debug: nothing, info: nothing, warn: keep, error: keep };
}
