/** The record of an exchange, kept for a while so that the operator can ask for an explanation. */

import type { Attempt, Clock, CostStatus, RowStatus, SpendRow } from "@sluice/contract";
import type { RouteOutline } from "../pipeline/compile.ts";
import type { LiveExchange } from "../pipeline/exchange.ts";
import { spendRows } from "./rows.ts";
import type { StepNote } from "../pipeline/steps/trace.ts";

/** Attempts of one exchange that are kept: the first ones. */
const MAX_ATTEMPTS = 16;
/** Maximum length of texts that clients choose. */
const MAX_CHARACTERS = 256;

/** One upstream call. Times are milliseconds from the start of the exchange. */
export interface AttemptRecord {
  attempt: number;
  targetId: string | null;
  provider: string | null;
  model: string;
  outcome: RowStatus;
  /** The HTTP status that stands for the outcome. */
  status: number | undefined;
  errorCode: string | null;
  startMs: number;
  firstContentMs: number | undefined;
  endMs: number;
  /** Milliseconds spent waiting for the upstream. */
  upstreamMs: number | undefined;
  promptTokens: number | null;
  completionTokens: number | null;
  totalTokens: number | null;
  usageSource: SpendRow["usageSource"];
  costNanoUsd: number | null;
  costStatus: CostStatus;
  /** The upstream's own id of the request. */
  upstreamRequestId: string | null;
  /** The id of its reply, where the upstream chose it. */
  completionId: string | null;
}

/**
 * The record. It holds texts and numbers only: no part of a body, and no reference that keeps an
 * exchange or a generation alive. It is written over with the next exchange: see
 * decisions/2026-11-20-explain.md.
 */
export interface ExchangeRecord {
  id: string;
  outline: RouteOutline;
  generation: number;
  /** `null` for an unauthenticated client. */
  keyId: string | null;
  keyAlias: string | undefined;
  /** What the key belongs to: who may read the record. */
  userId: string | undefined;
  teamId: string | undefined;
  organizationId: string | undefined;
  /** The model id that was asked for. */
  model: string | undefined;
  stream: boolean;
  startedAtMs: number;
  /** Milliseconds from the start to the end of the reply, or to the moment of the record. */
  totalMs: number;
  overheadMs: number | undefined;
  bodyMs: number;
  /** The status that was sent; `undefined` when the client was gone before. */
  status: number | undefined;
  errorCode: string | undefined;
  /** By the step's place, as far as the exchange came. */
  readonly ownMs: number[];
  readonly runs: number[];
  failures: readonly (string | undefined)[] | undefined;
  readonly notes: StepNote[];
  readonly attempts: AttemptRecord[];
}

const NO_ROUTE: RouteOutline = Object.freeze({
  method: "",
  path: "",
  pipeline: "",
  operation: "chat",
  steps: [],
});

/** An empty record, to be overwritten. */
export function emptyRecord(): ExchangeRecord {
  return {
    id: "",
    outline: NO_ROUTE,
    generation: 0,
    keyId: null,
    keyAlias: undefined,
    userId: undefined,
    teamId: undefined,
    organizationId: undefined,
    model: undefined,
    stream: false,
    startedAtMs: 0,
    totalMs: 0,
    overheadMs: undefined,
    bodyMs: 0,
    status: undefined,
    errorCode: undefined,
    ownMs: [],
    runs: [],
    failures: undefined,
    notes: [],
    attempts: [],
  };
}

/**
 * Overwrites a record with the present state of an exchange. `status` is the sent one, or the one
 * about to be sent.
 */
export function writeRecord(
  into: ExchangeRecord,
  exchange: LiveExchange,
  outline: RouteOutline,
  status: number | undefined,
  clock: Clock,
): ExchangeRecord {
  const { trace, identity, request } = exchange;
  into.id = exchange.id;
  into.outline = outline;
  into.generation = exchange.generation;
  into.keyId = identity?.keyId ?? null;
  into.keyAlias = identity?.alias;
  into.userId = identity?.userId;
  into.teamId = identity?.teamId;
  into.organizationId = identity?.organizationId ?? undefined;
  into.model = askedModel(exchange);
  into.stream = request?.stream === true;
  into.startedAtMs = exchange.startedAtMs;
  into.totalMs = clock.monotonic() - exchange.startedMs;
  into.overheadMs = exchange.overheadMs;
  into.bodyMs = trace.bodyMs;
  into.status = status;
  into.errorCode = errorOf(exchange);
  copyNumbers(trace.ownMs, into.ownMs);
  copyNumbers(trace.runs, into.runs);
  into.failures = trace.failures;
  writeNotes(trace.notes, into.notes);
  writeAttempts(exchange, into.attempts, clock);
  return into;
}

/** The record of an exchange as it is now. */
export function recordOf(
  exchange: LiveExchange,
  outline: RouteOutline,
  status: number | undefined,
  clock: Clock,
): ExchangeRecord {
  return writeRecord(emptyRecord(), exchange, outline, status, clock);
}

/** An attempt by its row; `attempt` is what the process still knows beside it. */
export function attemptRecord(
  row: SpendRow,
  startedAtMs: number,
  attempt?: Attempt,
): AttemptRecord {
  const record = emptyAttempt();
  writeAttempt(record, row, startedAtMs, attempt);
  return record;
}

function emptyAttempt(): AttemptRecord {
  return {
    attempt: 0,
    targetId: null,
    provider: null,
    model: "",
    outcome: "failure",
    status: undefined,
    errorCode: null,
    startMs: 0,
    firstContentMs: undefined,
    endMs: 0,
    upstreamMs: undefined,
    promptTokens: null,
    completionTokens: null,
    totalTokens: null,
    usageSource: null,
    costNanoUsd: null,
    costStatus: "unpriced",
    upstreamRequestId: null,
    completionId: null,
  };
}

function writeAttempt(
  into: AttemptRecord,
  row: SpendRow,
  startedAtMs: number,
  attempt: Attempt | undefined,
): void {
  into.attempt = row.attempt;
  into.targetId = row.targetId === null ? null : bounded(row.targetId);
  into.provider = row.provider;
  into.model = attempt?.model?.id === row.model ? bounded(attempt.model.id) : bounded(row.model);
  into.outcome = row.status;
  into.status = row.status === "success" ? 200 : attempt?.error?.status;
  into.errorCode = row.errorCode;
  into.startMs = row.startedAtMs - startedAtMs;
  into.firstContentMs =
    row.firstContentAtMs === null ? undefined : row.firstContentAtMs - startedAtMs;
  into.endMs = row.endedAtMs - startedAtMs;
  into.upstreamMs = attempt?.upstreamMs;
  into.promptTokens = row.promptTokens;
  into.completionTokens = row.completionTokens;
  into.totalTokens = row.totalTokens;
  into.usageSource = row.usageSource;
  into.costNanoUsd = row.costNanoUsd;
  into.costStatus = row.costStatus;
  into.upstreamRequestId = row.upstreamRequestId ?? null;
  into.completionId = row.completionId ?? null;
}

/** The attempts that have ended. One that is under way has no row yet. */
function writeAttempts(exchange: LiveExchange, into: AttemptRecord[], clock: Clock): void {
  const { attempts, startedAtMs } = exchange;
  const isEnded =
    exchange.rows !== undefined || attempts.every(({ outcome }) => outcome !== undefined);
  const rows =
    attempts.length === 0 || !isEnded ? [] : (exchange.rows ?? spendRows(exchange, clock));
  const count = Math.min(rows.length, MAX_ATTEMPTS);
  if (into.length > count) into.length = count;
  for (let index = 0; index < count; index += 1) {
    const row = rows[index]!;
    writeAttempt((into[index] ??= emptyAttempt()), row, startedAtMs, attempts[row.attempt - 1]);
  }
}

function writeNotes(notes: readonly StepNote[] | undefined, into: StepNote[]): void {
  const count = notes?.length ?? 0;
  if (into.length > count) into.length = count;
  for (let index = 0; index < count; index += 1) {
    const { step, place, text, about } = notes![index]!;
    const note = (into[index] ??= { step, place, text, about });
    note.step = step;
    note.place = place;
    note.text = bounded(text);
    note.about = about === undefined ? undefined : bounded(about);
  }
}

function copyNumbers(from: readonly number[], into: number[]): void {
  if (into.length > from.length) into.length = from.length;
  for (let index = 0; index < from.length; index += 1) into[index] = from[index]!;
}

/**
 * The requested model. For a model of the catalogue it is the catalogue's own string, which needs
 * no more memory.
 */
function askedModel({ request, model }: LiveExchange): string | undefined {
  if (request === undefined) return undefined;
  return bounded(model?.id === request.model ? model.id : request.model);
}

function errorOf({ failure, ending }: LiveExchange): string | undefined {
  if (failure !== undefined) return failure.code;
  return ending.aborted ? (ending.reason as { readonly code?: string }).code : undefined;
}

/**
 * A text of bounded length. A cut text is copied, because a substring would keep the whole string
 * in memory.
 */
function bounded(text: string): string {
  return text.length <= MAX_CHARACTERS
    ? text
    : Buffer.from(`${text.slice(0, MAX_CHARACTERS)}…`).toString();
}
