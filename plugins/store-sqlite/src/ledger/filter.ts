/** Conditions of the ledger's queries. */

import type { LedgerFilter } from "@sluice/contract";
import type { SQLInputValue } from "node:sqlite";
import type { CompletionTimes } from "./completions.ts";

/** Terms of a `where`, joined by `and`, and the values of their question marks. */
export interface Conditions {
  readonly terms: string[];
  readonly parameters: SQLInputValue[];
}

const OF_COMPLETION = "completion_id = ?";
/** One text for any number of times: statements are kept by their texts. */
const AT_TIMES = "started_at_ms in (select value from json_each(?))";

/**
 * The conditions of a filter's ids. The caller adds the bounds of time. `column` is the prefix of a
 * column for which SQLite must not choose an index.
 */
export function idConditions(
  filter: LedgerFilter,
  completionTimes: CompletionTimes,
): Conditions & { readonly column: "" | "+" } {
  const terms: string[] = [];
  const parameters: SQLInputValue[] = [];
  const add = (term: string, value: SQLInputValue | undefined): void => {
    if (value === undefined) return;
    terms.push(term);
    parameters.push(value);
  };
  // SQLite uses no index for a column after a plus (sqlite.org/optoverview.html, 2). A request has
  // few rows, so the index of its ids, or of their times, is the best one.
  const { requestId, completionId } = filter;
  const column = requestId === undefined && completionId === undefined ? "" : "+";
  if (completionId === undefined) add("request_id = ?", requestId);
  else {
    const times = completionTimes(completionId, filter.fromMs);
    const ofCompletion = times === undefined ? OF_COMPLETION : `(${OF_COMPLETION} and ${AT_TIMES})`;
    terms.push(requestId === undefined ? ofCompletion : `(request_id = ? or ${ofCompletion})`);
    if (requestId !== undefined) parameters.push(requestId);
    parameters.push(completionId);
    if (times !== undefined) parameters.push(JSON.stringify(times));
  }
  add(`${column}key_id = ?`, filter.keyId);
  add(`${column}user_id = ?`, filter.userId);
  add(`${column}team_id = ?`, filter.teamId);
  if (filter.organizationId === "") terms.push(`${column}organization_id is null`);
  else add(`${column}organization_id = ?`, filter.organizationId);
  add(`${column}end_user = ?`, filter.endUser);
  return { terms, parameters, column };
}

/**
 * One text for any list: statements are kept by their texts. A name is that of a model or its
 * group, or of a model in a group; with a `*`, it is the beginning of a model's or of a
 * group's.
 */
const OF_MODELS = `exists (select 1 from json_each(?) name where name.value = model or (model_group <> '' and name.value = model_group)
  or name.value = model_group || char(10) || model
  or (substr(name.value, -1) = '*' and substr(name.value, 1, length(name.value) - 1) in (
    substr(ifnull(model, ''), 1, length(name.value) - 1),
    substr(model_group || char(10) || model, 1, length(name.value) - 1))))`;

/** The condition that a row has one of these models; none without a list of models. */
export function modelConditions(models: readonly string[] | undefined): Conditions {
  return models === undefined
    ? { terms: [], parameters: [] }
    : { terms: [OF_MODELS], parameters: [JSON.stringify(models)] };
}

/** Statements that are kept. Their filters may be combined in many ways. */
const MAX_STATEMENTS = 256;

/** Prepared statements by their text. They are dropped together when there are more. */
export function createStatementCache<T>(prepare: (sql: string) => T): (sql: string) => T {
  const prepared = new Map<string, T>();
  return (sql) => {
    let statement = prepared.get(sql);
    if (statement !== undefined) return statement;
    if (prepared.size >= MAX_STATEMENTS) prepared.clear();
    prepared.set(sql, (statement = prepare(sql)));
    return statement;
  };
}
