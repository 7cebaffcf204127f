/** Writes sums in the transaction of their rows. */

import type { PoolClient } from "pg";
import { AMOUNTS } from "./amounts.ts";
import type { Sum, Sums } from "./collect.ts";

/** A table of sums, with its key's columns and their types. */
interface Table {
  readonly name: string;
  readonly key: readonly (readonly [column: string, type: string])[];
  readonly amounts: readonly string[];
}

const ALL = AMOUNTS.map(({ column }) => column);
const CELL = ["cell", "bigint"] as const;

const TABLES = {
  hours: { name: "spend_hour", key: [["hour", "integer"], CELL], amounts: ALL },
  days: { name: "spend_day", key: [["day", "integer"], CELL], amounts: ALL },
  tags: { name: "spend_tag_hour", key: [["hour", "integer"], ["tag", "text"], CELL], amounts: ALL },
  customers: {
    name: "spend_customer_day",
    key: [["day", "integer"], ["customer", "text"], CELL],
    amounts: ALL,
  },
  totals: {
    name: "spend_total",
    key: [
      ["subject", "text"],
      ["span", "integer"],
      ["model", "text"],
      ["model_group", "text"],
    ],
    amounts: ["nano_usd"],
  },
} as const satisfies Record<keyof Sums, Table>;

const STATEMENTS = Object.fromEntries(
  Object.entries(TABLES).map(([name, table]) => [name, upsert(table)]),
) as Record<keyof Sums, string>;

/**
 * Adds to the sums of one writer. Other writers have rows of their own: none waits for another. The
 * sums of a table are written in the order of their keys.
 */
export async function writeSums(client: PoolClient, sums: Sums, writer: number): Promise<void> {
  for (const name of ["hours", "days", "tags", "customers", "totals"] as const) {
    const found = [...sums[name].values()].toSorted((a, b) => compareKeys(a, b));
    if (found.length === 0) continue;
    const { key, amounts } = TABLES[name];
    const lists = [
      ...key.map((_, index) => found.map((sum) => sum.key[index])),
      ...amounts.map((_, index) => found.map((sum) => String(sum.amounts[index]))),
    ];
    // oxlint-disable-next-line no-await-in-loop -- one connection.
    await client.query(STATEMENTS[name], [...lists, writer]);
  }
}

function upsert({ name, key, amounts }: Table): string {
  const columns = [...key.map(([column]) => column), ...amounts];
  const lists = [
    ...key.map(([, type], index) => `$${index + 1}::${type}[]`),
    ...amounts.map((_, index) => `$${key.length + index + 1}::bigint[]`),
  ];
  const added = amounts.map((column) => `${column} = ${name}.${column} + excluded.${column}`);
  return `insert into ${name} (${columns.join(", ")}, writer)
    select *, $${columns.length + 1}::smallint from unnest(${lists.join(", ")})
    on conflict (${key.map(([column]) => column).join(", ")}, writer) do update set ${added.join(", ")}`;
}

function compareKeys({ key: a }: Sum, { key: b }: Sum): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? value;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
