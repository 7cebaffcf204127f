/**
 * The sandbox of one test: a generation of the candidate's snapshot with real plugins and stand-ins
 * for everything else.
 */

import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import type { GuardrailCatalog, Log, Operation, ProviderCatalog, SpendRow } from "@sluice/contract";
import { createScriptedUpstream } from "@sluice/runtime/transport";
import { upstreamKey } from "@sluice/kit/internals";
import type { PipelineTest, Snapshot } from "../config/snapshot.ts";
import { createFamilyFactors } from "../counting/family-factor.ts";
import type { ProcessParts, StandIns } from "../generation/parts.ts";
import { buildGeneration, type Generation } from "../generation/generation.ts";
import { createPublicApp, type PublicParts } from "../http/public.ts";
import { emptyRecord, type ExchangeRecord } from "../accounting/exchange-record.ts";
import type { Definitions } from "../registry/definitions.ts";
import { RecentRequests } from "../accounting/recent-requests.ts";
import { SharedPool } from "../resources/shared-pool.ts";
import { systemClock } from "../telemetry/clock.ts";
import { ScriptedUpstreamLog } from "./upstream-log.ts";
import { sandboxGuardrails } from "./guardrails.ts";
import { identityOf } from "./identity.ts";
import { withTestModels } from "./models.ts";
import { processOf, roughCounter } from "./own-parts.ts";
import { sandboxSnapshot } from "./snapshot.ts";
import { sandboxProviders } from "./providers.ts";

/** The candidate under test. */
export interface PreflightSubject {
  readonly snapshot: Snapshot;
  readonly definitions: Definitions;
  /** The started guardrails of the candidate. */
  readonly guardrails: GuardrailCatalog;
  /** The routes of the candidate. Absent: a sandbox builds every pipeline. */
  readonly routes?: Generation["routes"];
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
  subject: PreflightSubject,
  test: PipelineTest,
): Promise<Sandbox> {
  const { snapshot, definitions } = subject;
  const upstreamLog = new ScriptedUpstreamLog(test.outcomes);
  const rows: SpendRow[] = [];
  const errors: string[] = [];
  const log = errorLog(errors);
  const masterKey = randomUUID();
  const keyCredential = randomUUID();
  const shared = new SharedPool();
  const process = processOf({ definitions, log, shared, rows, masterKey });
  const standIns: StandIns = {
    guardrails: sandboxGuardrails(subject.guardrails, definitions),
    authority: authorityOf(test, keyCredential),
    catalog: (real) => withTestModels(real, operationOf(snapshot, test)),
    providers: (real) => scriptedProviders(real, upstreamLog, shared),
  };
  const generation = await buildGeneration(
    process,
    sandboxSnapshot(withServingPipeline(subject, test), definitions),
    0,
    standIns,
  );
  const recent = new RecentRequests<ExchangeRecord>(2, emptyRecord);
  return {
    handle: createPublicApp(appParts(generation, process, rows, recent)).callback(),
    credential: test.key === "none" ? undefined : test.key === "master" ? masterKey : keyCredential,
    upstreamLog,
    rows,
    record: (id) => recent.find(id),
    errors,
    close: () => generation.drain(0),
  };
}

/** A path that reaches the routes as it is written. */
const PLAIN_PATH = /^(?:\/[\w.:-]+)+$/;

/**
 * The snapshot with the pipeline alone that serves the test's request: the candidate has made the
 * others already. With all of them, where none or no route is found.
 */
function withServingPipeline({ snapshot, routes }: PreflightSubject, test: PipelineTest): Snapshot {
  const [path = ""] = test.target.split("?", 1);
  if (routes === undefined || !PLAIN_PATH.test(path) || /\/\.\.?(?:\/|$)/.test(path))
    return snapshot;
  const match = routes.find(test.method, path);
  if (match.kind !== "found") return snapshot;
  const { pipeline } = match.value;
  return { ...snapshot, pipelines: snapshot.pipelines.filter(({ name }) => name === pipeline) };
}

/** The operation of the pipeline that a test belongs to. */
function operationOf({ pipelines }: Snapshot, test: PipelineTest): Operation {
  return pipelines.find(({ tests }) => tests.includes(test))?.operation ?? "chat";
}

/** The authority of the candidate, which also knows the key of the test. */
function authorityOf({ key }: PipelineTest, credential: string): StandIns["authority"] {
  const identity = typeof key === "string" ? undefined : identityOf(key);
  return (real) => ({
    ...real,
    identify: (presented) => (presented === credential ? identity : real.identify(presented)),
    mayUse: (who, model) => real.mayUse(who, model),
  });
}

/** The candidate's providers, whose connections lead to scripted upstreams. */
function scriptedProviders(
  real: ProviderCatalog,
  upstreamLog: ScriptedUpstreamLog,
  shared: SharedPool,
): ProviderCatalog {
  const catalog = sandboxProviders(real, upstreamLog);
  for (const name of catalog.names()) {
    const instance = catalog.find(name);
    if (instance === undefined) continue;
    const options = { connections: instance.connections, connectMs: instance.timeouts.connectMs };
    // The sandbox holds these for its lifetime: every caller that asks for connections to the
    // provider gets them.
    shared.acquire(upstreamKey(name, options), () =>
      createScriptedUpstream(options, (call) => upstreamLog.answer(name, call)),
    );
  }
  return catalog;
}

/** The parts of an app that serves one generation and keeps its rows and records in memory. */
function appParts(
  generation: Generation,
  { log, sealer }: ProcessParts,
  rows: SpendRow[],
  recent: RecentRequests<ExchangeRecord>,
): PublicParts {
  return {
    log,
    sealer,
    clock: systemClock,
    ledger: {
      record: async (recorded) => void rows.push(...recorded),
      note: () => undefined,
      check: () => undefined,
    },
    counting: { tokens: roughCounter, factors: createFamilyFactors() },
    sample: () => undefined,
    recent,
    metrics: { count: () => undefined, countUnrouted: () => undefined },
    generations: { generationFor: () => generation },
    admission: { phase: "serving" },
    authHeaders: [],
    listeners: {},
    isReady: () => true,
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
