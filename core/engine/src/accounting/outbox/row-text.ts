/** A spend row as text: a JSON array, because the names would be more than half of it. */

import type { SpendRow } from "@sluice/contract";

/** Rows as members of a JSON array. */
export function rowTexts(rows: readonly SpendRow[]): string {
  return JSON.stringify(rows.map(valuesOf)).slice(1, -1);
}

/** A row by its text's value. Earlier versions wrote rows with their names. */
export function rowOfText(found: unknown): SpendRow {
  if (!Array.isArray(found)) return found as SpendRow;
  const row: Record<string, unknown> = {};
  for (const [index, name] of MEMBERS.entries()) row[name] = found[index] ?? null;
  if (row["requests"] === null) delete row["requests"];
  if (row["judged"] === null) delete row["judged"];
  return row as unknown as SpendRow;
}

/** The members in the order of the text. A new one goes to the end, here and in `valuesOf`. */
const MEMBERS: readonly (keyof SpendRow)[] = [
  "requestId",
  "attempt",
  "callType",
  "keyId",
  "keyAlias",
  "userId",
  "teamId",
  "organizationId",
  "endUser",
  "model",
  "targetId",
  "modelGroup",
  "provider",
  "status",
  "errorCode",
  "promptTokens",
  "completionTokens",
  "totalTokens",
  "cachedTokens",
  "reasoningTokens",
  "usageSource",
  "costNanoUsd",
  "costStatus",
  "cacheHit",
  "startedAtMs",
  "firstContentAtMs",
  "endedAtMs",
  "generation",
  "tags",
  "metadata",
  "clientAddress",
  "upstreamRequestId",
  "completionId",
  "requests",
  "judged",
];

/** One array literal: a loop over the names costs more than writing all texts. */
function valuesOf(row: SpendRow): readonly unknown[] {
  return [
    row.requestId,
    row.attempt,
    row.callType,
    row.keyId,
    row.keyAlias,
    row.userId,
    row.teamId,
    row.organizationId,
    row.endUser,
    row.model,
    row.targetId,
    row.modelGroup,
    row.provider,
    row.status,
    row.errorCode,
    row.promptTokens,
    row.completionTokens,
    row.totalTokens,
    row.cachedTokens,
    row.reasoningTokens,
    row.usageSource,
    row.costNanoUsd,
    row.costStatus,
    row.cacheHit,
    row.startedAtMs,
    row.firstContentAtMs,
    row.endedAtMs,
    row.generation,
    row.tags,
    row.metadata,
    row.clientAddress,
    row.upstreamRequestId,
    row.completionId,
    row.requests,
    row.judged,
  ];
}
