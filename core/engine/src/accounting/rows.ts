/**
 * The spend rows of an exchange: one for each attempt, or one for a refusal after authentication.
 * What a client may write into the ledger with one request is bounded.
 */

import { BILLING, guardrailOutcomes, isAmbiguous, priceAttempt, SERVED } from "@sluice/runtime";
import {
  type Attempt,
  type AttemptWriter,
  type Clock,
  type Cost,
  GatewayError,
  type JsonObject,
  type Model,
  type Operation,
  type SpendRow,
  type Usage,
} from "@sluice/contract";
import type { NotedCall } from "./outbox/note-text.ts";
import { judgedBy } from "./judged.ts";
import { PLAYED, PLAYED_TAG } from "./played.ts";
import type { LiveExchange } from "../pipeline/exchange.ts";

const NO_NOTES: Readonly<Record<string, unknown>> = Object.freeze({});
const UNPRICED: Cost = { status: "unpriced", nanoUsd: undefined };

/** Operations whose exchanges cost nothing and leave no rows. */
const READ_ONLY: ReadonlySet<Operation> = new Set<Operation>([
  "models",
  "spend",
  "tokens",
  "responses",
]);

/** Whether exchanges of an operation leave rows. */
export function leavesRows(operation: Operation): boolean {
  return !READ_ONLY.has(operation);
}

/**
 * Ends every attempt that is still open, by the reason that ended the exchange, and charges each.
 */
export function closeAttempts(exchange: LiveExchange, clock: Clock): void {
  const served = SERVED.get(exchange);
  for (const attempt of exchange.attempts) closeAttempt(exchange, attempt, clock);
  if (served !== undefined) closeAttempt(exchange, served, clock);
}

function closeAttempt(exchange: LiveExchange, attempt: AttemptWriter, clock: Clock): void {
  if (attempt.outcome === undefined) {
    const reason: unknown = exchange.signal.reason;
    const gone = new GatewayError("client_closed", "The client closed the connection.");
    attempt.close(reason instanceof GatewayError ? reason : gone, clock.now());
  }
  attempt.charge(costOf(exchange, attempt));
}

/** How many unreadable events were left out of the streams of an exchange. */
export function droppedEvents(exchange: LiveExchange): number {
  let count = SERVED.get(exchange)?.droppedEvents ?? 0;
  for (const attempt of exchange.attempts) count += attempt.droppedEvents ?? 0;
  return count;
}

function costOf(exchange: LiveExchange, attempt: Attempt): Cost {
  return attempt.cost ?? priceAttempt(exchange, attempt) ?? UNPRICED;
}

/**
 * The rows of an exchange whose attempts have ended. An exchange without an identity has none: a
 * client that did not authenticate leaves no row.
 */
export function spendRows(exchange: LiveExchange, clock: Clock): SpendRow[] {
  const rows = rowsOf(exchange, clock);
  const judged = rows.length === 0 ? undefined : judgedBy(exchange);
  if (judged !== undefined) rows[0] = { ...(rows[0] as SpendRow), judged };
  return rows;
}

function rowsOf(exchange: LiveExchange, clock: Clock): SpendRow[] {
  if (exchange.identity === undefined || !leavesRows(exchange.operation)) return [];
  const { attempts } = exchange;
  const served = SERVED.get(exchange);
  if (attempts.length === 0 && served === undefined) return [refusalRow(exchange, clock)];
  const rows = attempts.map((attempt) => attemptRow(exchange, attempt));
  return served === undefined ? rows : [...rows, servedRow(exchange, served)];
}

/**
 * The row of a reply that was served without a call: another request, or an earlier one of the
 * client, paid for it.
 */
function servedRow(exchange: LiveExchange, served: Attempt): SpendRow {
  return { ...attemptRow(exchange, served), costNanoUsd: 0, costStatus: "free", cacheHit: true };
}

/**
 * What the row of a call that has not been made yet needs: the one that stands if nothing more is
 * heard of it, because the process was killed. `usage` is what it is billed for then.
 */
export function notedCall(exchange: LiveExchange, attempt: Attempt, usage: Usage): NotedCall {
  const { identity, request } = exchange;
  const cost = priceAttempt(exchange, cutAttempt(attempt, usage)) ?? UNPRICED;
  return {
    requestId: exchange.id,
    attempt: attempt.number,
    callType: exchange.operation,
    keyId: identity?.keyId ?? "",
    keyAlias: identity?.alias ?? null,
    userId: identity?.userId ?? null,
    teamId: identity?.teamId ?? null,
    organizationId: identity?.organizationId ?? null,
    endUser: request?.endUser ?? null,
    model: rowModel(attempt.model, exchange),
    targetId: attempt.target.id,
    modelGroup: attempt.model?.entry ?? null,
    provider: attempt.provider,
    promptTokens: usage.promptTokens,
    costNanoUsd: cost.nanoUsd ?? null,
    costStatus: cost.status,
    startedAtMs: attempt.startedAtMs,
    generation: exchange.generation,
    tags: tagsOf(exchange),
    clientAddress: exchange.client.address,
    completionTokens: usage.completionTokens,
  };
}

/** An open attempt, as if it had been cut with this usage. One literal: every call makes one. */
function cutAttempt(
  { number, target, model, provider, startedAtMs, document }: Attempt,
  usage: Usage,
): Attempt {
  return {
    number,
    target,
    model,
    provider,
    startedAtMs,
    document,
    usage,
    usageSource: "estimated",
    outcome: "partial",
    firstContentAtMs: undefined,
    endedAtMs: undefined,
    upstreamMs: undefined,
    error: undefined,
    replyText: undefined,
  };
}

/** The model that was asked for, in the client's own word, or one that stood in for it. */
function rowModel(model: Model | undefined, { operation, request }: LiveExchange): string {
  // A native request names the upstream's model.
  if (model === undefined || operation === "passthrough") return boundedModel(request?.model ?? "");
  const isAskedFor =
    model.id === request?.model || request?.otherModels?.includes(model.id) === true;
  return isAskedFor ? request.model : model.id;
}

function attemptRow(exchange: LiveExchange, attempt: Attempt): OpenRow {
  const { usage, model } = attempt;
  const cost = costOf(exchange, attempt);
  const row = emptyRow(exchange);
  if (model !== undefined) {
    row.model = rowModel(model, exchange);
    row.modelGroup = model.entry;
  }
  const rule = billingRule(exchange, attempt);
  if (rule !== undefined) row.metadata = { ...row.metadata, ...rule };
  if (attempt.droppedEvents !== undefined)
    row.metadata = { ...row.metadata, dropped_events: attempt.droppedEvents };
  if (attempt.suspectUsage !== undefined)
    row.metadata = { ...row.metadata, suspect_usage: countsOf(attempt.suspectUsage) };
  row.attempt = attempt.number;
  row.targetId = attempt.target.id;
  row.provider = attempt.provider;
  row.status = attempt.outcome ?? "partial";
  row.errorCode = attempt.error?.code ?? null;
  if (usage !== undefined) {
    row.promptTokens = usage.promptTokens;
    row.completionTokens = usage.completionTokens;
    row.totalTokens = usage.totalTokens;
    row.cachedTokens = usage.cachedTokens ?? null;
    row.reasoningTokens = usage.reasoningTokens ?? null;
  }
  row.usageSource = attempt.usageSource ?? null;
  row.costNanoUsd = cost.nanoUsd ?? null;
  row.costStatus = cost.status;
  row.startedAtMs = attempt.startedAtMs;
  row.firstContentAtMs = attempt.firstContentAtMs ?? null;
  row.endedAtMs = attempt.endedAtMs ?? attempt.startedAtMs;
  row.upstreamRequestId = attempt.upstreamRequestId ?? null;
  row.completionId = attempt.completionId ?? null;
  return row;
}

/** The counts of a reported usage that cannot be true. */
function countsOf({ promptTokens, completionTokens, cachedTokens }: Usage): JsonObject {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    cached_tokens: cachedTokens ?? null,
  };
}

/**
 * The billing rule of an attempt that the client left, or that was sent and lost. The row records
 * it.
 */
function billingRule(exchange: LiveExchange, attempt: Attempt): JsonObject | undefined {
  const rule = BILLING.get(exchange)?.describe?.(attempt, exchange);
  return isAmbiguous(attempt) ? { ambiguous: true, ...rule } : rule;
}

function refusalRow(exchange: LiveExchange, clock: Clock): SpendRow {
  const row = emptyRow(exchange);
  // A refused client can retry at once, so its row is small. The outcomes of guardrails stay.
  row.tags = boundedTags(row.tags);
  row.metadata =
    guardrailOutcomes(exchange).length === 0 ? NO_NOTES : { guardrails: verdictsOf(exchange) };
  row.errorCode = exchange.failure?.code ?? null;
  row.endedAtMs = clock.now();
  return row;
}

/** A row while it is written. */
type OpenRow = { -readonly [Name in keyof SpendRow]: SpendRow[Name] };

/**
 * The row of an exchange without an upstream call, with every member set at once, because every
 * request makes one.
 */
function emptyRow(exchange: LiveExchange): OpenRow {
  const { identity, request, model } = exchange;
  return {
    requestId: exchange.id,
    attempt: 0,
    callType: exchange.operation,
    keyId: identity?.keyId ?? "",
    keyAlias: identity?.alias ?? null,
    userId: identity?.userId ?? null,
    teamId: identity?.teamId ?? null,
    organizationId: identity?.organizationId ?? null,
    endUser: request?.endUser ?? null,
    model: boundedModel(request?.model ?? ""),
    targetId: null,
    modelGroup: model?.entry ?? null,
    provider: null,
    status: "failure",
    errorCode: null,
    promptTokens: null,
    completionTokens: null,
    totalTokens: null,
    cachedTokens: null,
    reasoningTokens: null,
    usageSource: null,
    costNanoUsd: 0,
    costStatus: "free",
    cacheHit: false,
    startedAtMs: exchange.startedAtMs,
    firstContentAtMs: null,
    endedAtMs: exchange.startedAtMs,
    generation: exchange.generation,
    tags: tagsOf(exchange),
    metadata: metadataOf(exchange),
    clientAddress: exchange.client.address,
    upstreamRequestId: null,
    completionId: null,
  };
}

/** The request's notes, and what guardrails did: their names and verdicts, each once. */
function metadataOf(exchange: LiveExchange): Readonly<Record<string, unknown>> {
  const { request } = exchange;
  const metadata = request === undefined ? NO_NOTES : boundedNotes(request.metadata, request.tags);
  return guardrailOutcomes(exchange).length === 0
    ? metadata
    : { ...metadata, guardrails: verdictsOf(exchange) };
}

function verdictsOf(exchange: LiveExchange): readonly unknown[] {
  return [
    ...new Map(
      guardrailOutcomes(exchange).map((outcome) => [Object.values(outcome).join(" "), outcome]),
    ).values(),
  ];
}

function tagsOf(exchange: LiveExchange): readonly string[] {
  const { identity, request } = exchange;
  const tags = joinTags(identity?.tags ?? [], request?.tags ?? []);
  return PLAYED.get(exchange) === true ? joinTags(tags, [PLAYED_TAG]) : tags;
}

function joinTags(first: readonly string[], second: readonly string[]): readonly string[] {
  if (second.length === 0) return first;
  if (first.length === 0) return second;
  return [...new Set([...first, ...second])];
}

/** Characters of a row's tags and metadata together, as JSON. Notes beyond it are left out. */
const MAX_ROW_CHARACTERS = 16_384;
/**
 * Characters of the tags of a request that was refused: such requests cost nothing, and there may
 * be many.
 */
const MAX_REFUSED_CHARACTERS = 1_024;
/** Maximum length of a model's name: a client chooses it. */
const MAX_MODEL_CHARACTERS = 256;

type Notes = Readonly<Record<string, unknown>>;

/**
 * The notes that fit beside the tags, in their order. `truncated: true` marks a row without some of
 * them.
 */
function boundedNotes(notes: Notes, tags: readonly string[]): Notes {
  const names = Object.keys(notes);
  if (names.length === 0) return notes;
  let left = MAX_ROW_CHARACTERS - charactersOf(tags);
  const kept: Record<string, unknown> = {};
  let isWhole = true;
  for (const name of names) {
    const characters = name.length + (JSON.stringify(notes[name])?.length ?? 0);
    if (characters > left) isWhole = false;
    else {
      left -= characters;
      kept[name] = notes[name];
    }
  }
  return isWhole ? notes : { ...kept, truncated: true };
}

/** The tags of a refused request that fit, in their order. */
function boundedTags(tags: readonly string[]): readonly string[] {
  let left = MAX_REFUSED_CHARACTERS;
  return tags.filter((tag) => (left -= tag.length) >= 0);
}

/** The beginning of a model's name. */
function boundedModel(model: string): string {
  return model.slice(0, MAX_MODEL_CHARACTERS);
}

function charactersOf(texts: readonly string[]): number {
  let sum = 0;
  for (const text of texts) sum += text.length;
  return sum;
}
