/** The note of a call as text: what its row needs, by position. */

import type { SpendRow } from "@sluice/contract";

/** The members of a note. The other members of its row are equal for all interrupted calls. */
export type NotedCall = Pick<
  SpendRow,
  | "requestId"
  | "attempt"
  | "callType"
  | "keyId"
  | "keyAlias"
  | "userId"
  | "teamId"
  | "endUser"
  | "model"
  | "targetId"
  | "modelGroup"
  | "provider"
  | "promptTokens"
  | "costNanoUsd"
  | "costStatus"
  | "startedAtMs"
  | "generation"
  | "tags"
  | "clientAddress"
  | "completionTokens"
  | "organizationId"
>;

/** The members in the order of the text. A new one goes to the end. */
const MEMBERS = 21;
/** Notes of earlier versions end before the tokens of the reply, or before the organization. */
const MIN_MEMBERS = 19;

const INTERRUPTED = Object.freeze({ interrupted: true });

/** Notes as members of a JSON array. */
export function noteTexts(calls: readonly NotedCall[]): string {
  return JSON.stringify(calls.map(valuesOf)).slice(1, -1);
}

/** A JSON array: the names would be more than half of it. */
function valuesOf(call: NotedCall): readonly unknown[] {
  const {
    requestId,
    attempt,
    callType,
    keyId,
    keyAlias,
    userId,
    teamId,
    endUser,
    model,
    targetId,
    modelGroup,
  } = call;
  const {
    provider,
    promptTokens,
    costNanoUsd,
    costStatus,
    startedAtMs,
    generation,
    tags,
    clientAddress,
  } = call;
  const { completionTokens, organizationId } = call;
  // One array literal: spreading or growing an array costs more than writing all texts.
  return [
    requestId,
    attempt,
    callType,
    keyId,
    keyAlias,
    userId,
    teamId,
    endUser,
    model,
    targetId,
    modelGroup,
    provider,
    promptTokens,
    costNanoUsd,
    costStatus,
    startedAtMs,
    generation,
    tags,
    clientAddress,
    completionTokens,
    organizationId,
  ];
}

/** The call of a note: rows and notes of one call have the same. */
export function callOf(requestId: unknown, attempt: unknown): string {
  return `${String(requestId)}:${String(attempt)}`;
}

/**
 * The row of a note: `partial`, billed for what was reserved under a budget, otherwise for its
 * prompt as it was estimated. `undefined` for what is no note of this version.
 */
export function rowOfNote(found: unknown): SpendRow | undefined {
  if (!Array.isArray(found) || found.length < MIN_MEMBERS || found.length > MEMBERS)
    return undefined;
  const call = readMembers(found);
  return {
    ...call,
    status: "partial",
    errorCode: null,
    totalTokens: (call.promptTokens ?? 0) + (call.completionTokens ?? 0),
    cachedTokens: null,
    reasoningTokens: null,
    usageSource: "estimated",
    cacheHit: false,
    firstContentAtMs: null,
    endedAtMs: call.startedAtMs,
    metadata: INTERRUPTED,
    upstreamRequestId: null,
    completionId: null,
  };
}

/** The file is the gateway's own and has its types. */
function readMembers(note: readonly unknown[]): NotedCall {
  const [
    requestId,
    attempt,
    callType,
    keyId,
    keyAlias,
    userId,
    teamId,
    endUser,
    model,
    targetId,
    modelGroup,
    ...rest
  ] = note;
  const [
    provider,
    promptTokens,
    costNanoUsd,
    costStatus,
    startedAtMs,
    generation,
    tags,
    clientAddress,
    completionTokens = 0,
    organizationId = null,
  ] = rest;
  const whose = {
    requestId,
    attempt,
    callType,
    keyId,
    keyAlias,
    userId,
    teamId,
    organizationId,
    endUser,
    model,
    targetId,
    modelGroup,
  };
  const used = { provider, promptTokens, completionTokens, costNanoUsd, costStatus };
  return { ...whose, ...used, startedAtMs, generation, tags, clientAddress } as NotedCall;
}
