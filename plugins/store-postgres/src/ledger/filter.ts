/** Conditions of the ledger's queries. */

import { type LedgerFilter, type LedgerSumFilter } from "@sluice/contract";
import { DAY_MS, firstIdOf, isUuid } from "./days-of-ids.ts";

/** The terms of a `where` and their parameters, `$1` first. */
export class Conditions {
  readonly terms: string[] = [];
  readonly parameters: unknown[] = [];

  /** Adds a term; each question mark stands for the next value. */
  add(term: string, ...values: readonly unknown[]): this {
    let next = 0;
    this.terms.push(
      term.replaceAll("?", () => {
        this.parameters.push(values[next++]);
        return `$${this.parameters.length}`;
      }),
    );
    return this;
  }

  /** The same conditions, to add others to. */
  copy(): Conditions {
    const copied = new Conditions();
    copied.terms.push(...this.terms);
    copied.parameters.push(...this.parameters);
    return copied;
  }

  get where(): string {
    return this.terms.length === 0 ? "true" : this.terms.join(" and ");
  }
}

/** A request begins its last attempt within a day of its id. */
const SLACK_MS = DAY_MS;

/**
 * The conditions of a filter. The bounds of time are also bounds of ids, so that only the
 * partitions of these days are read.
 */
export function conditionsOf(filter: LedgerFilter): Conditions {
  const found = new Conditions();
  const { requestId, completionId, fromMs, toMs } = filter;
  const id = requestId !== undefined && isUuid(requestId) ? requestId : null;
  if (requestId !== undefined && completionId !== undefined)
    found.add("(request_id = ?::uuid or completion_id = ?)", id, completionId);
  else if (requestId !== undefined) found.add("request_id = ?::uuid", id);
  else if (completionId !== undefined) found.add("completion_id = ?", completionId);
  for (const [column, value] of [
    ["key_id", filter.keyId],
    ["user_id", filter.userId],
    ["team_id", filter.teamId],
    ["end_user", filter.endUser],
  ] as const) {
    if (value !== undefined) found.add(`${column} = ?`, value);
  }
  if (filter.organizationId === "") found.add("organization_id is null");
  else if (filter.organizationId !== undefined)
    found.add("organization_id = ?", filter.organizationId);
  if (fromMs !== undefined)
    found.add("started_at_ms >= ? and request_id >= ?", fromMs, firstIdOf(fromMs - SLACK_MS));
  if (toMs !== undefined) found.add("started_at_ms < ? and request_id < ?", toMs, firstIdOf(toMs));
  return found;
}

/** The conditions of a sum: those of its filter, with a tag, a provider or models. */
export function sumConditionsOf(filter: LedgerSumFilter): Conditions {
  const found = conditionsOf(filter);
  if (filter.tag !== undefined) found.add("tags @> ?::jsonb", JSON.stringify([filter.tag]));
  if (filter.provider !== undefined)
    found.add(
      "(target_id = ? or starts_with(target_id, ?))",
      filter.provider,
      `${filter.provider}/`,
    );
  if (filter.models !== undefined) found.add(modelCondition("model", "model_group"), filter.models);
  return found;
}

/** The row behind which a page begins; `undefined` for a cursor of no row. */
export function readCursor(
  cursor: string,
): { readonly requestId: string; readonly attempt: number } | undefined {
  const colon = cursor.lastIndexOf(":");
  const [requestId, attempt] = [cursor.slice(0, Math.max(0, colon)), cursor.slice(colon + 1)];
  const isOne = isUuid(requestId) && /^\d{1,4}$/.test(attempt);
  return isOne ? { requestId, attempt: Number(attempt) } : undefined;
}

/**
 * The condition that one of a list of names is the model or its group, or a model in a group, or
 * with a `*` the beginning of the model or of the group.
 */
export function modelCondition(model: string, group: string): string {
  const both = `${group} || chr(10) || ${model}`;
  return `exists (select 1 from unnest(?::text[]) name where name = ${model} or (${group} <> '' and name = ${group}) or name = ${both}
    or (right(name, 1) = '*' and (starts_with(coalesce(${model}, ''), left(name, -1)) or starts_with(${both}, left(name, -1)))))`;
}
