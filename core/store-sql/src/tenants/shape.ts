/** What the tables of tenants have in common: how a kind of records is kept. */

import type { TenantQuery, TenantScope } from "@sluice/contract";
import { type RawBuilder, sql } from "kysely";
import type { Schema } from "../schema.ts";

/** A condition of a query. */
export type Condition = RawBuilder<boolean>;

/** The filters of a kind. A filter that is absent selects nothing. */
export interface Filters {
  readonly organizationId?: (id: string) => Condition;
  readonly userId?: (id: string) => Condition;
  readonly teamId?: (id: string) => Condition;
  readonly budgetId?: (id: string) => Condition;
  readonly within: (scope: TenantScope) => Condition;
}

/** How records of one kind are kept. `Row` is a row of its table. */
export interface Shape<Record, Id, Row> {
  readonly table: keyof Schema;
  /** Columns of the identity, in the order of lists. */
  readonly idColumns: readonly (keyof Row & string)[];
  /** The values of these columns. */
  readonly idValues: (id: Id) => readonly string[];
  /** Whether a search finds the alias too. */
  readonly hasAlias: boolean;
  /** Columns of the members that are present. */
  readonly columns: (changes: Partial<Record>) => Partial<Row>;
  /** Columns that are written with the record, and by no update. */
  readonly fixed: (record: Record) => Partial<Row>;
  readonly record: (row: Row) => Record;
  readonly filters: Filters;
}

/** Nothing matches. */
export const NOTHING: Condition = sql<boolean>`false`;

/** Whether a column has one of these values; one parameter, however many they are. */
export function isOneOf(column: string, values: readonly string[]): Condition {
  if (values.length === 0) return NOTHING;
  return sql<boolean>`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;
}

/** Whether a column has a value. */
export function is(column: string): (value: string) => Condition {
  return (value) => sql<boolean>`${sql.ref(column)} = ${value}`;
}

/** Whether any of the conditions holds. */
export function anyOf(...conditions: readonly Condition[]): Condition {
  const possible = conditions.filter((condition) => condition !== NOTHING);
  return possible.length === 0 ? NOTHING : sql<boolean>`(${sql.join(possible, sql` or `)})`;
}

const NAMED_FILTERS = ["organizationId", "userId", "teamId", "budgetId"] as const;

/** The conditions of a query, but for its cursor. */
export function conditionsOf(
  query: Omit<TenantQuery, "limit">,
  {
    filters,
    idColumns,
    hasAlias,
  }: Pick<Shape<never, never, never>, "filters" | "idColumns" | "hasAlias">,
): Condition[] {
  const conditions: Condition[] = [];
  for (const name of NAMED_FILTERS) {
    const value = query[name];
    if (value !== undefined) conditions.push(filters[name]?.(value) ?? NOTHING);
  }
  if (query.within !== undefined) conditions.push(filters.within(query.within));
  const { search = "" } = query;
  if (search !== "") {
    const [id = ""] = idColumns as readonly string[];
    conditions.push(
      hasAlias
        ? anyOf(beginsWith(id, search), beginsWith("alias", search))
        : beginsWith(id, search),
    );
  }
  return conditions;
}

/**
 * Whether a column begins with a text, as a range of the index: bytes of UTF-8 have the order of
 * code points.
 */
export function beginsWith(column: string, text: string): Condition {
  const from = sql<boolean>`${sql.ref(column)} >= ${text}`;
  const end = endOfPrefix(text);
  return end === undefined ? from : sql<boolean>`(${from} and ${sql.ref(column)} < ${end})`;
}

const LAST_BEFORE_SURROGATES = 0xd7_ff;
const FIRST_AFTER_SURROGATES = 0xe0_00;
const LAST = 0x10_ff_ff;

/** The first text behind all that begin with this one; `undefined` where there is none. */
function endOfPrefix(text: string): string | undefined {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last === LAST_BEFORE_SURROGATES ? FIRST_AFTER_SURROGATES : last + 1;
  return String.fromCodePoint(...points, next);
}
