/** The columns of the ledger: their types, and what a row has in them. */

import type { SpendRow } from "@sluice/contract";
import { toJsonText, withoutNul } from "@sluice/store-sql/text";

/** A column. `value` makes it from a row, which another version of the gateway may have written. */
export interface LedgerColumn {
  readonly name: string;
  readonly type: "uuid" | "smallint" | "integer" | "bigint" | "text" | "boolean" | "jsonb";
  readonly value: (row: SpendRow) => string | number | boolean | null;
}

/** All columns, in the order in which they are written. */
export const LEDGER_COLUMNS: readonly LedgerColumn[] = [
  { name: "request_id", type: "uuid", value: (row) => row.requestId },
  { name: "attempt", type: "smallint", value: (row) => row.attempt },
  textColumn("call_type", (row) => row.callType),
  textColumn("key_id", (row) => row.keyId),
  textColumn("key_alias", (row) => row.keyAlias),
  textColumn("user_id", (row) => row.userId),
  textColumn("team_id", (row) => row.teamId),
  textColumn("organization_id", (row) => row.organizationId),
  textColumn("end_user", (row) => row.endUser),
  textColumn("model", (row) => row.model),
  textColumn("target_id", (row) => row.targetId),
  textColumn("model_group", (row) => row.modelGroup),
  textColumn("provider", (row) => row.provider),
  textColumn("status", (row) => row.status),
  textColumn("error_code", (row) => row.errorCode),
  countColumn("prompt_tokens", (row) => row.promptTokens),
  countColumn("completion_tokens", (row) => row.completionTokens),
  countColumn("total_tokens", (row) => row.totalTokens),
  countColumn("cached_tokens", (row) => row.cachedTokens),
  countColumn("reasoning_tokens", (row) => row.reasoningTokens),
  textColumn("usage_source", (row) => row.usageSource),
  countColumn("cost_nano_usd", (row) => row.costNanoUsd),
  textColumn("cost_status", (row) => row.costStatus),
  { name: "cache_hit", type: "boolean", value: (row) => row.cacheHit === true },
  countColumn("started_at_ms", (row) => row.startedAtMs),
  countColumn("first_content_at_ms", (row) => row.firstContentAtMs),
  countColumn("ended_at_ms", (row) => row.endedAtMs),
  countColumn("generation", (row) => row.generation),
  { name: "tags", type: "jsonb", value: (row) => jsonOf(row.tags, "[]") },
  { name: "metadata", type: "jsonb", value: (row) => jsonOf(row.metadata, "{}") },
  textColumn("client_address", (row) => row.clientAddress),
  textColumn("upstream_request_id", (row) => row.upstreamRequestId),
  textColumn("completion_id", (row) => row.completionId),
  countColumn("requests", (row) => row.requests),
];

/** A row as the driver reads it. */
export type LedgerRecord = Readonly<Record<string, unknown>>;

/** The row of a record. Columns that another version left empty have neutral values. */
export function rowOf(record: LedgerRecord): SpendRow {
  const { requests } = record;
  return {
    requestId: String(record["request_id"]),
    attempt: Number(record["attempt"]),
    callType: textOr(record["call_type"], ""),
    keyId: textOr(record["key_id"], ""),
    keyAlias: text(record["key_alias"]),
    userId: text(record["user_id"]),
    teamId: text(record["team_id"]),
    organizationId: text(record["organization_id"]),
    endUser: text(record["end_user"]),
    model: textOr(record["model"], ""),
    targetId: text(record["target_id"]),
    modelGroup: text(record["model_group"]),
    provider: text(record["provider"]),
    status: textOr(record["status"], "failure") as SpendRow["status"],
    errorCode: text(record["error_code"]),
    promptTokens: count(record["prompt_tokens"]),
    completionTokens: count(record["completion_tokens"]),
    totalTokens: count(record["total_tokens"]),
    cachedTokens: count(record["cached_tokens"]),
    reasoningTokens: count(record["reasoning_tokens"]),
    usageSource: text(record["usage_source"]) as SpendRow["usageSource"],
    costNanoUsd: count(record["cost_nano_usd"]),
    costStatus: textOr(record["cost_status"], "unpriced") as SpendRow["costStatus"],
    cacheHit: record["cache_hit"] === true,
    startedAtMs: count(record["started_at_ms"]) ?? 0,
    firstContentAtMs: count(record["first_content_at_ms"]),
    endedAtMs: count(record["ended_at_ms"]) ?? 0,
    generation: count(record["generation"]) ?? 0,
    tags: Array.isArray(record["tags"]) ? record["tags"].map(String) : [],
    metadata: objectOr(record["metadata"]),
    clientAddress: text(record["client_address"]),
    upstreamRequestId: text(record["upstream_request_id"]),
    completionId: text(record["completion_id"]),
    ...(typeof requests === "number" && { requests }),
  };
}

function textColumn(
  name: string,
  read: (row: SpendRow) => string | null | undefined,
): LedgerColumn {
  const value = (row: SpendRow): string | null => {
    const found = read(row);
    return typeof found === "string" ? withoutNul(found) : null;
  };
  return { name, type: "text", value };
}

function countColumn(
  name: string,
  read: (row: SpendRow) => number | null | undefined,
): LedgerColumn {
  const value = (row: SpendRow): number | null => {
    const found = read(row);
    return typeof found === "number" ? Math.trunc(found) : null;
  };
  return { name, type: "bigint", value };
}

/** Most rows have no tags and no metadata: null costs a bit. */
function jsonOf(value: unknown, empty: string): string | null {
  const written = value === undefined || value === null ? empty : toJsonText(value);
  return written === empty ? null : written;
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

function objectOr(value: unknown): SpendRow["metadata"] {
  return typeof value === "object" && value !== null ? (value as SpendRow["metadata"]) : {};
}

function count(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
