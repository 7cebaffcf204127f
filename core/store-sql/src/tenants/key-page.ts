/**
 * A page of the list of keys. Each statement walks one index from the cursor on, so that a page
 * costs the same among a million keys as among a hundred.
 */

import { GatewayError, type KeyListing, type KeyPageQuery, type KeyRecord } from "@sluice/contract";
import { type Kysely, sql } from "kysely";
import { parseJson } from "@sluice/kit";
import type { KeyTable, Schema } from "../schema.ts";
import { keyConditions } from "./key-filter.ts";
import { anyOf, beginsWith, type Condition, is, isOneOf } from "./shape.ts";

/** A walk along one index. Several of them, one after the other, are an order. */
interface Walk {
  /** Keys of the walk. Absent: all. */
  readonly where?: Condition;
  readonly column: "created_at_ms" | "alias" | "expires_at_ms" | "id" | "user_id";
  readonly isDescending?: true;
}

/** Where a page ends: the walk, and the values of its last key. */
interface Place {
  readonly walk: number;
  readonly value: string | number;
  readonly id: string;
}

/** Places of a scope that are walked one by one; more of them are one condition. */
const MAX_WALKED_PLACES = 24;

const ORDERS: Readonly<Record<NonNullable<KeyPageQuery["order"]>, readonly Walk[]>> = {
  newest: [{ column: "created_at_ms", isDescending: true }],
  oldest: [{ column: "created_at_ms" }],
  alias: [
    { where: sql<boolean>`alias is not null`, column: "alias" },
    { where: sql<boolean>`alias is null`, column: "id" },
  ],
  expires: [
    { where: sql<boolean>`expires_at_ms is not null`, column: "expires_at_ms" },
    { where: sql<boolean>`expires_at_ms is null`, column: "id" },
  ],
};

/** Reads a page. `toRecord` reads a row. */
export async function keyPage(
  database: Kysely<Schema>,
  query: KeyPageQuery,
  toRecord: (row: KeyTable) => KeyRecord,
): Promise<KeyListing> {
  const walks = walksOf(query);
  const after = query.after === undefined ? undefined : readCursor(query.after, walks);
  const wanted = query.limit + 1;
  const found: { readonly row: KeyTable; readonly place: Place }[] = [];
  for (let walk = after?.walk ?? 0; walk < walks.length && found.length < wanted; walk++) {
    const along = walks[walk] as Walk;
    const from = after?.walk === walk ? after : undefined;
    for (const row of await walked(database, query, along, from, wanted - found.length))
      found.push({ row, place: { walk, value: row[along.column] ?? "", id: row.id } });
  }
  return {
    keys: found
      .slice(0, query.limit)
      .map(({ row, place }) => ({ key: toRecord(row), cursor: cursorOf(place) })),
    isMore: found.length > query.limit,
  };
}

/** A search has the order of what it finds: a key is found by its first match alone. */
function walksOf({ search = "", order = "newest" }: KeyPageQuery): readonly Walk[] {
  if (search === "") return ORDERS[order];
  const alias = beginsWith("alias", search);
  const id = beginsWith("id", search);
  const noAlias = sql<boolean>`(alias is null or not ${alias})`;
  const user = beginsWith("user_id", search);
  return [
    { where: sql<boolean>`(alias is not null and ${alias})`, column: "alias" },
    { where: sql<boolean>`(${id} and ${noAlias})`, column: "id" },
    { where: sql<boolean>`(${user} and not ${id} and ${noAlias})`, column: "user_id" },
  ];
}

/** The next keys of a walk. */
async function walked(
  database: Kysely<Schema>,
  query: KeyPageQuery,
  walk: Walk,
  from: Place | undefined,
  limit: number,
): Promise<readonly KeyTable[]> {
  const found = new Map<string, KeyTable>();
  for (const place of placesOf(query)) {
    let rows = database.selectFrom("virtual_key").selectAll();
    for (const condition of [...conditionsOf(query), ...(place === undefined ? [] : [place])])
      rows = rows.where(condition);
    if (walk.where !== undefined) rows = rows.where(walk.where);
    if (from !== undefined) rows = rows.where(isBehind(walk, from));
    const direction = walk.isDescending === true ? "desc" : "asc";
    for (const row of await rows
      .orderBy(walk.column, direction)
      .orderBy("id", direction)
      .limit(limit)
      .execute())
      found.set(row.id, row);
  }
  return [...found.values()].sort((a, b) => compare(a, b, walk)).slice(0, limit);
}

function conditionsOf(query: KeyPageQuery): readonly Condition[] {
  const { status, nowMs } = query;
  const conditions = keyConditions(query);
  if (status === undefined) return conditions;
  if (status === "blocked") return [...conditions, sql<boolean>`blocked = 1`];
  const ends =
    status === "expired"
      ? sql<boolean>`expires_at_ms <= ${nowMs}`
      : sql<boolean>`(expires_at_ms is null or expires_at_ms > ${nowMs})`;
  return [...conditions, sql<boolean>`blocked = 0`, ends];
}

/** The places of a scope, each with an index of its own; `undefined`: everywhere. */
function placesOf({ within }: KeyPageQuery): readonly (Condition | undefined)[] {
  if (within === undefined) return [undefined];
  const { organizations, teams, users } = within;
  if (organizations.length + teams.length + users.length > MAX_WALKED_PLACES)
    return [
      anyOf(
        isOneOf("effective_organization_id", organizations),
        isOneOf("team_id", teams),
        isOneOf("user_id", users),
      ),
    ];
  return [
    ...organizations.map(is("effective_organization_id")),
    ...teams.map(is("team_id")),
    ...users.map(is("user_id")),
  ];
}

function isBehind({ column, isDescending }: Walk, { value, id }: Place): Condition {
  const columns = sql`(${sql.ref(column)}, id)`;
  return isDescending === true
    ? sql<boolean>`${columns} < (${value}, ${id})`
    : sql<boolean>`${columns} > (${value}, ${id})`;
}

/** The order of the database: texts by their bytes. */
function compare(a: KeyTable, b: KeyTable, { column, isDescending }: Walk): number {
  const order = compareValues(a[column] ?? "", b[column] ?? "") || compareValues(a.id, b.id);
  return isDescending === true ? -order : order;
}

function compareValues(a: string | number, b: string | number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

function cursorOf({ walk, value, id }: Place): string {
  return Buffer.from(JSON.stringify([walk, value, id])).toString("base64url");
}

function readCursor(cursor: string, walks: readonly Walk[]): Place {
  try {
    const [walk, value, id] = parseJson(Buffer.from(cursor, "base64url").toString()) as unknown[];
    const column = typeof walk === "number" ? walks[walk]?.column : undefined;
    const type = column?.endsWith("_ms") === true ? "number" : "string";
    if (column !== undefined && typeof value === type && typeof id === "string")
      return { walk: walk as number, value: value as string | number, id };
  } catch {
    // Not JSON.
  }
  throw new GatewayError(
    "invalid_field",
    "The cursor is not one that this list returned. Begin without one.",
    { param: "cursor" },
  );
}
