/** Records of one kind at rest. */

import {
  GatewayError,
  normalTenantId,
  type TenantConflict,
  type TenantPage,
  type TenantQuery,
} from "@sluice/contract";
import { type CompiledQuery, type Kysely, sql } from "kysely";
import { parseJson } from "@sluice/kit";
import type { StatementResult } from "../statement-driver.ts";
import { conflictOf, type RefusalOf } from "./conflicts.ts";
import { type Condition, conditionsOf, type Shape } from "./shape.ts";

/** A connection without the types of its tables: a shape has those of one. */
export type AnyTables = Kysely<Record<string, Record<string, unknown>>>;

/** The open database: asked at every call, because it opens after the tables are made. */
export interface Place {
  /** Reads. */
  readonly database: () => AnyTables;
  /** Long lists: they run where no look-up waits for them. */
  readonly lists: () => AnyTables;
  /** Changes. */
  readonly writer: () => AnyTables;
  /** Several changes in one transaction. */
  readonly transact: (statements: readonly CompiledQuery[]) => Promise<readonly StatementResult[]>;
  readonly refusalOf: RefusalOf;
}

/** What every kind does alike. */
export interface KeptTable<Record, Id> {
  find(id: Id): Promise<Record | undefined>;
  list(query: TenantQuery): Promise<TenantPage<Record>>;
  insert(record: Record): Promise<"added" | TenantConflict>;
  update(id: Id, changes: Partial<Record>): Promise<Record | TenantConflict | undefined>;
  declare(record: Record): Promise<"declared" | "taken">;
}

const CONFLICTS: readonly TenantConflict[] = ["taken", "used", "alias", "missing", "border"];

/** Makes the table of a shape. */
export function createTable<Record extends object, Id, Row extends object>(
  shape: Shape<Record, Id, Row>,
  place: Place,
): KeptTable<Record, Id> {
  const reads = tableReads(shape, place);
  return { ...reads, ...tableWrites(shape, place, reads.find) };
}

/** The condition that a row is the one of an id. */
export function isRow<Id>(
  { idColumns, idValues }: Pick<Shape<never, Id, never>, "idColumns" | "idValues">,
  id: Id,
): Condition {
  const values = idValues(id);
  const parts = (idColumns as readonly string[]).map(
    (column, index) => sql`${sql.ref(column)} = ${values[index]}`,
  );
  return sql<boolean>`${sql.join(parts, sql` and `)}`;
}

function tableReads<Record extends object, Id, Row extends object>(
  shape: Shape<Record, Id, Row>,
  { database }: Place,
): Pick<KeptTable<Record, Id>, "find" | "list"> {
  let byId: CompiledQuery<object> | undefined;
  const columns: readonly string[] = shape.idColumns;
  return {
    async find(id): Promise<Record | undefined> {
      // Requests ask for it, and to build it costs more than to run it.
      byId ??= database().selectFrom(shape.table).selectAll().where(isRow(shape, id)).compile();
      const { rows } = await database().executeQuery({ ...byId, parameters: shape.idValues(id) });
      const [row] = rows;
      return row === undefined ? undefined : shape.record(row as Row);
    },
    async list(query) {
      let rows = database()
        .selectFrom(shape.table)
        .selectAll()
        .limit(query.limit + 1);
      for (const condition of conditionsOf(query, shape)) rows = rows.where(condition);
      if (query.after !== undefined) rows = rows.where(isBehind(columns, query.after));
      for (const column of columns) rows = rows.orderBy(column);
      const found = (await rows.execute()) as Row[];
      const shown = found.slice(0, query.limit);
      const last = shown.at(-1);
      return {
        records: shown.map(shape.record),
        ...(found.length > shown.length &&
          last !== undefined && { next: cursorOf(last, shape.idColumns) }),
      };
    },
  };
}

function tableWrites<Record extends object, Id, Row extends object>(
  shape: Shape<Record, Id, Row>,
  { writer, refusalOf }: Place,
  find: KeptTable<Record, Id>["find"],
): Pick<KeptTable<Record, Id>, "insert" | "update" | "declare"> {
  const declare = async (row: object): Promise<void> => {
    const { created_at_ms: _kept, ...changed } = row as { created_at_ms?: number };
    await writer()
      .insertInto(shape.table)
      .values(row as globalThis.Record<string, unknown>)
      .onConflict((conflict) =>
        conflict
          .columns([...shape.idColumns])
          .doUpdateSet(changed)
          .where(`${shape.table}.managed_by`, "=", "file"),
      )
      .execute();
  };
  return {
    async insert(record) {
      const row = { ...shape.columns(record), ...shape.fixed(normal(record, shape)) };
      try {
        await writer().insertInto(shape.table).values(row).execute();
        return "added";
      } catch (error) {
        return conflictOf(error, refusalOf, CONFLICTS);
      }
    },
    async update(id, changes) {
      const columns = shape.columns(changes);
      if (Object.keys(columns).length === 0) return find(id);
      try {
        const row = await writer()
          .updateTable(shape.table)
          .set(columns)
          .where(isRow(shape, id))
          .returningAll()
          .executeTakeFirst();
        return row === undefined ? undefined : shape.record(row as Row);
      } catch (error) {
        return conflictOf(error, refusalOf, CONFLICTS);
      }
    },
    async declare(record) {
      const declared = { ...normal(record, shape), managedBy: "file" };
      const row = { ...shape.columns(declared), ...shape.fixed(declared) };
      try {
        await declare(row);
      } catch (error) {
        const conflict = conflictOf(error, refusalOf, ["taken", "alias"]);
        if (conflict === "taken") return "taken";
        await declare({ ...row, alias: null });
      }
      return "declared";
    },
  };
}

/** A record whose id is in Unicode NFC. A customer's id stays as it is. */
function normal<Record extends object>(
  record: Record,
  { table }: Pick<Shape<never, never, never>, "table">,
): Record {
  if (table === "customer" || !("id" in record) || typeof record.id !== "string") return record;
  return { ...record, id: normalTenantId(record.id) };
}

function cursorOf(row: object, columns: readonly string[]): string {
  const values = columns.map((column) => (row as globalThis.Record<string, unknown>)[column]);
  return Buffer.from(JSON.stringify(values)).toString("base64url");
}

/** The rows behind a cursor. Throws `invalid_field` for what is no cursor of these columns. */
function isBehind(columns: readonly string[], cursor: string): Condition {
  const values = readCursor(cursor);
  if (values?.length !== columns.length)
    throw new GatewayError(
      "invalid_field",
      "The cursor is not one that a list returned. Begin without one.",
      { param: "cursor" },
    );
  const refs = columns.map((column) => sql.ref(column));
  return sql<boolean>`(${sql.join(refs)}) > (${sql.join(values)})`;
}

function readCursor(cursor: string): readonly string[] | undefined {
  try {
    const values: unknown = parseJson(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(values) && values.every((value) => typeof value === "string")) return values;
  } catch {
    // Not JSON.
  }
  return undefined;
}
