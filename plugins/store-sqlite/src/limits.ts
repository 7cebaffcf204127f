/** The columns that keys and teams share, to and from their records. */

import type { TeamRecord } from "@sluice/contract";
import type { LimitColumns } from "./schema.ts";
import { readList, readObject, toJsonText, withoutNul } from "./text.ts";

/** The members that keys and teams share. */
export type LimitMembers = Omit<TeamRecord, "id" | "createdAtMs" | "managedBy">;

/**
 * Turns the members that are present into columns; absent ones stay absent, for an update of part
 * of a row.
 */
export function limitColumns(members: Partial<LimitMembers>): Partial<LimitColumns> {
  return present({
    alias: nullableText(members.alias),
    models: members.models && toJsonText(members.models),
    max_budget_nano_usd: members.maxBudgetNanoUsd,
    soft_budget_nano_usd: members.softBudgetNanoUsd,
    budget_duration: nullableText(members.budgetDuration),
    rpm: members.rpm,
    tpm: members.tpm,
    max_parallel_requests: members.maxParallelRequests,
    tags: members.tags && toJsonText(members.tags),
    allowed_tags: members.allowedTags && toJsonText(members.allowedTags),
    metadata: members.metadata && toJsonText(members.metadata),
    guardrails: members.guardrails && toJsonText(members.guardrails),
    passthrough: members.passthrough === undefined ? undefined : Number(members.passthrough),
    blocked: members.blocked === undefined ? undefined : Number(members.blocked),
    imported_nano_usd: members.importedSpend?.nanoUsd,
    imported_at_ms: members.importedSpend?.atMs,
  });
}

/** Reads the members back. */
export function limitMembers(row: LimitColumns): LimitMembers {
  return {
    alias: row.alias,
    models: readList(row.models),
    maxBudgetNanoUsd: row.max_budget_nano_usd,
    softBudgetNanoUsd: row.soft_budget_nano_usd,
    budgetDuration: row.budget_duration,
    rpm: row.rpm,
    tpm: row.tpm,
    maxParallelRequests: row.max_parallel_requests,
    tags: readList(row.tags),
    allowedTags: readList(row.allowed_tags),
    metadata: readObject(row.metadata),
    guardrails: readList(row.guardrails),
    passthrough: row.passthrough === 1,
    blocked: row.blocked === 1,
    ...(row.imported_nano_usd !== null &&
      row.imported_at_ms !== null && {
        importedSpend: { nanoUsd: row.imported_nano_usd, atMs: row.imported_at_ms },
      }),
  };
}

/** A text without NUL; null and absent stay what they are. */
export function nullableText(text: string | null | undefined): string | null | undefined {
  return typeof text === "string" ? withoutNul(text) : text;
}

/** The object without the members that are undefined. */
export function present<T extends object>(
  columns: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const entries = Object.entries(columns).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof T]?: Exclude<T[Name], undefined> };
}
