/** The line of a noted call: what its row needs, by position. */

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
>;

/** The members in the order of the line. A new one goes to the end. */
const MEMBERS = 20;
/** Lines of earlier versions end before the tokens of the reply. */
const MIN_MEMBERS = 19;

const INTERRUPTED = Object.freeze({ interrupted: true });

/** A JSON array and a line feed. The names would be more than half of it. */
export function noteLine(call: NotedCall): string {
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
  const { completionTokens } = call;
  // One array literal: spreading or growing an array costs more than writing all texts.
  return `${JSON.stringify([
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
  ])}\n`;
}

/**
 * The row of a line: `partial`, billed for what was reserved under a budget, otherwise for its
 * prompt as it was estimated. `undefined` for what is no line of this version, or is cut.
 */
export function rowOfNote(line: string): SpendRow | undefined {
  let found: unknown;
  try {
    found = JSON.parse(line);
  } catch {
    return undefined;
  }
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
function readMembers(line: readonly unknown[]): NotedCall {
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
  ] = line;
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
  ] = rest;
  const whose = {
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
  };
  const used = { provider, promptTokens, completionTokens, costNanoUsd, costStatus };
  return { ...whose, ...used, startedAtMs, generation, tags, clientAddress } as NotedCall;
}
