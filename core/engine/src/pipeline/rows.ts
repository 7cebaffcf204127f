/** The spend rows of an exchange: one for each attempt, or one for a refusal after authentication. */

import { isAbandoned, isAmbiguous } from "@sluice/kit";
import { type Attempt, type Clock, type Cost, GatewayError, type SpendRow } from "@sluice/spec";
import type { LiveExchange } from "./exchange.ts";

const UNPRICED: Cost = { status: "unpriced", nanoUsd: undefined };

/** Operations whose exchanges cost nothing and leave no rows. */
const READ_ONLY = new Set(["models", "spend"]);

/**
 * The rows. Attempts that are still open are closed here, as cut by whatever ended the exchange. An exchange without an
 * identity has none: who did not authenticate leaves no row.
 */
export function spendRows(exchange: LiveExchange, clock: Clock): SpendRow[] {
  if (exchange.identity === undefined || READ_ONLY.has(exchange.operation)) return [];
  const { attempts, served } = exchange;
  if (attempts.length === 0 && served === undefined) return [refusalRow(exchange, clock)];
  const rows = attempts.map((attempt) => attemptRow(exchange, attempt, clock));
  return served === undefined ? rows : [...rows, servedRow(exchange, served, clock)];
}

/** What was served without a call: somebody else paid for it, or the same client before. */
function servedRow(exchange: LiveExchange, served: Attempt, clock: Clock): SpendRow {
  return { ...attemptRow(exchange, served, clock), costNanoUsd: 0, costStatus: "free", cacheHit: true };
}

function attemptRow(exchange: LiveExchange, attempt: Attempt, clock: Clock): SpendRow {
  if (attempt.outcome === undefined) close(exchange, attempt, clock);
  const { usage } = attempt;
  const cost = exchange.pricer?.(attempt) ?? UNPRICED;
  attempt.cost = cost;
  return {
    ...commonPart(exchange),
    ...modelPart(exchange, attempt),
    ...billingPart(exchange, attempt),
    attempt: attempt.number,
    targetId: attempt.target.id,
    provider: attempt.provider,
    status: attempt.outcome ?? "partial",
    errorCode: attempt.error?.code ?? null,
    promptTokens: usage?.promptTokens ?? null,
    completionTokens: usage?.completionTokens ?? null,
    totalTokens: usage?.totalTokens ?? null,
    cachedTokens: usage?.cachedTokens ?? null,
    reasoningTokens: usage?.reasoningTokens ?? null,
    usageSource: attempt.usageSource ?? null,
    costNanoUsd: cost.nanoUsd ?? null,
    costStatus: cost.status,
    startedAtMs: attempt.startedAtMs,
    firstContentAtMs: attempt.firstContentAtMs ?? null,
    endedAtMs: attempt.endedAtMs ?? clock.now(),
  };
}

/** The model that was called: the one that was asked for, in the client's own word, or one that stood in for it. */
function modelPart({ request }: LiveExchange, { model }: Attempt) {
  if (model === undefined) return {};
  const isAskedFor = model.id === request?.model || request?.otherModels?.includes(model.id) === true;
  return { model: isAskedFor ? request.model : model.id, modelGroup: model.entry };
}

/** The rule by which an attempt was billed that the client left, or that was sent and lost, stands in its row. */
function billingPart(exchange: LiveExchange, attempt: Attempt) {
  const { abortBilling, ambiguousBilling } = exchange;
  if (isAmbiguous(attempt)) {
    const rule = ambiguousBilling === undefined ? {} : { on_ambiguous: ambiguousBilling };
    return { metadata: { ...metadataOf(exchange), ambiguous: true, ...rule } };
  }
  if (abortBilling === undefined || !isAbandoned(exchange, attempt)) return {};
  return { metadata: { ...metadataOf(exchange), on_abort: abortBilling } };
}

function refusalRow(exchange: LiveExchange, clock: Clock): SpendRow {
  return {
    ...commonPart(exchange),
    attempt: 0,
    targetId: null,
    provider: null,
    status: "failure",
    errorCode: exchange.failure?.code ?? null,
    promptTokens: null,
    completionTokens: null,
    totalTokens: null,
    cachedTokens: null,
    reasoningTokens: null,
    usageSource: null,
    costNanoUsd: 0,
    costStatus: "free",
    startedAtMs: exchange.startedAtMs,
    firstContentAtMs: null,
    endedAtMs: clock.now(),
  };
}

function commonPart(exchange: LiveExchange) {
  const { identity, request, model } = exchange;
  return {
    requestId: exchange.id,
    callType: exchange.operation,
    keyId: identity?.keyId ?? "",
    keyAlias: identity?.alias ?? null,
    userId: identity?.userId ?? null,
    teamId: identity?.teamId ?? null,
    endUser: request?.endUser ?? null,
    model: request?.model ?? "",
    modelGroup: model?.entry ?? null,
    cacheHit: false,
    generation: exchange.generation,
    tags: joinTags(identity?.tags ?? [], request?.tags ?? []),
    metadata: metadataOf(exchange),
    clientAddress: exchange.client.address,
  };
}

/** The request's notes, and what guardrails did: their names and verdicts, each once. */
function metadataOf({ request, guardrails }: LiveExchange): Readonly<Record<string, unknown>> {
  const metadata = request?.metadata ?? {};
  if (guardrails.length === 0) return metadata;
  const told = new Map(guardrails.map((outcome) => [Object.values(outcome).join(" "), outcome]));
  return { ...metadata, guardrails: [...told.values()] };
}

function joinTags(first: readonly string[], second: readonly string[]): readonly string[] {
  if (second.length === 0) return first;
  if (first.length === 0) return second;
  return [...new Set([...first, ...second])];
}

function close(exchange: LiveExchange, attempt: Attempt, clock: Clock): void {
  const reason: unknown = exchange.signal.reason;
  attempt.outcome = attempt.firstContentAtMs === undefined ? "failure" : "partial";
  attempt.error ??=
    reason instanceof GatewayError ? reason : new GatewayError("client_closed", "The client closed the connection.");
  attempt.endedAtMs = clock.now();
}
