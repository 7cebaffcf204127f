/** Writes sums in the transaction of their rows. */

import type { DatabaseSync } from "node:sqlite";
import { AMOUNT_COLUMNS } from "./amounts.ts";
import type { TableSums } from "./collect.ts";

/** Prepares the statements that add to stored sums. */
export function createSumsWriter(database: DatabaseSync): (sums: TableSums) => void {
  const prepare = (table: string, key: readonly string[], amounts: readonly string[]) => {
    const columns = [...key, ...amounts];
    return database.prepare(
      `insert into ${table} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})
       on conflict (${key.join(", ")}) do update
       set ${amounts.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`,
    );
  };
  const hours = prepare("spend_hour", ["hour", "cell"], AMOUNT_COLUMNS);
  const tags = prepare("spend_tag_hour", ["hour", "tag", "cell"], AMOUNT_COLUMNS);
  const customers = prepare("spend_customer_day", ["day", "customer", "cell"], AMOUNT_COLUMNS);
  const totals = prepare("spend_total", ["subject", "span", "model_id"], ["nano_usd"]);
  return (sums) => {
    for (const { key, amounts } of sums.hours.values()) hours.run(...key, ...amounts);
    for (const { key, amounts } of sums.tags.values()) tags.run(...key, ...amounts);
    for (const { key, amounts } of sums.customers.values()) customers.run(...key, ...amounts);
    for (const { key, amounts } of sums.totals.values()) totals.run(...key, ...amounts);
  };
}
