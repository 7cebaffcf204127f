/** The columns of amounts and blocks of limits, to and from their records. */

import {
  type Amounts,
  type BudgetAnchor,
  type BudgetShare,
  EMPTY_AMOUNTS,
  type LimitBlock,
  type SelfService,
} from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import type { AmountColumns, LimitColumns } from "../schema.ts";
import { readList, readObject, toJsonText, withoutNul } from "../text.ts";

/** Columns of the amounts that are present. */
export function amountColumns(members: Partial<Amounts>): Partial<AmountColumns> {
  return present({
    max_budget_nano_usd: members.maxBudgetNanoUsd,
    soft_budget_nano_usd: members.softBudgetNanoUsd,
    budget_duration: nullableText(members.budgetDuration),
    rpm: members.rpm,
    tpm: members.tpm,
    max_parallel_requests: members.maxParallelRequests,
  });
}

/** Reads amounts back. */
export function amountMembers(row: AmountColumns): Amounts {
  return {
    maxBudgetNanoUsd: row.max_budget_nano_usd,
    softBudgetNanoUsd: row.soft_budget_nano_usd,
    budgetDuration: row.budget_duration,
    rpm: row.rpm,
    tpm: row.tpm,
    maxParallelRequests: row.max_parallel_requests,
  };
}

/**
 * Turns the members that are present into columns; absent ones stay absent, for an update of part
 * of a row.
 */
export function limitColumns(members: Partial<LimitBlock>): Partial<LimitColumns> {
  return {
    ...amountColumns(members),
    ...present({
      alias: nullableText(members.alias),
      models: jsonText(members.models),
      budget_anchor: members.budgetAnchor,
      per_model: jsonText(members.perModel),
      budget_id: nullableText(members.budgetId),
      budget_share: members.budgetShare,
      tags: jsonText(members.tags),
      allowed_tags: jsonText(members.allowedTags),
      metadata: jsonText(members.metadata),
      guardrails: jsonText(members.guardrails),
      passthrough: flag(members.passthrough),
      blocked: flag(members.blocked),
      expires_at_ms: members.expiresAtMs,
      imported_nano_usd: members.importedSpend?.nanoUsd,
      imported_at_ms: members.importedSpend?.atMs,
    }),
  };
}

/** Reads the members back. */
export function limitMembers(row: LimitColumns): LimitBlock {
  return {
    alias: row.alias,
    models: readList(row.models),
    ...amountMembers(row),
    budgetAnchor: row.budget_anchor as BudgetAnchor,
    perModel: readPerModel(row.per_model),
    budgetId: row.budget_id,
    budgetShare: row.budget_share as BudgetShare,
    tags: readList(row.tags),
    allowedTags: readList(row.allowed_tags),
    metadata: readObject(row.metadata),
    guardrails: readList(row.guardrails),
    passthrough: row.passthrough === 1,
    blocked: row.blocked === 1,
    expiresAtMs: row.expires_at_ms,
    ...(row.imported_nano_usd !== null &&
      row.imported_at_ms !== null && {
        importedSpend: { nanoUsd: row.imported_nano_usd, atMs: row.imported_at_ms },
      }),
  };
}

/** Reads limits by model. */
export function readPerModel(text: string): Readonly<Record<string, Amounts>> {
  // Most records have none.
  if (text === "{}") return {};
  return Object.fromEntries(
    Object.entries(readObject(text)).map(([model, amounts]) => [
      model,
      { ...EMPTY_AMOUNTS, ...(amounts as Partial<Amounts>) },
    ]),
  );
}

/** Reads names for models. */
export function readAliases(text: string): Readonly<Record<string, string>> {
  // Most records have none.
  return text === "{}" ? {} : (readObject(text) as Readonly<Record<string, string>>);
}

/** Reads a rule of self-service; null is none. */
export function readSelfService(text: string | null): SelfService | null {
  return text === null ? null : (parseJson(text) as SelfService);
}

/** The column of a rule of self-service. */
export function selfServiceText(rule: SelfService | null | undefined): string | null | undefined {
  return rule === null ? null : jsonText(rule);
}

/** A value as JSON; absent stays absent. */
export function jsonText(value: unknown): string | undefined {
  return value === undefined ? undefined : toJsonText(value);
}

/** A boolean as 0 or 1; absent stays absent. */
export function flag(value: boolean | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
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
