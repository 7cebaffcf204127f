/** Compares the sums of one table with those that it should have. */

import type { SumDifference, SumsCheck } from "@sluice/contract";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Summed } from "./collect.ts";

/** Differences that are reported; the others are counted. */
const MAX_DIFFERENCES = 100;

/** A table of sums. */
export interface Table {
  readonly name: string;
  /** The columns of the key. The one of time is named by `unit`. */
  readonly key: readonly string[];
  readonly unit: "hour" | "day" | "span" | "week";
  readonly unitMs: number;
  readonly amounts: readonly string[];
  /** Texts of a key, instead of ids. */
  readonly ids: string;
}

/** The names of a cell, in one text. */
export const CELL = `(select c.organization_id || ' ' || c.team_id || ' ' || c.user_id || ' ' || c.key_id || ' ' || m.model || ' ' || c.provider
  from spend_cell c join spend_model m on m.id = c.model_id where c.id = cell)`;

/** Sums by their keys. */
export type Keyed = Summed<readonly (string | number)[]>;

/** The comparisons of an open database, and what they found. */
export class TableComparison {
  readonly #database: DatabaseSync;
  readonly #differences: SumDifference[] = [];
  #sums = 0;
  #total = 0;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get found(): Pick<SumsCheck, "sums" | "differences" | "total"> {
    return { sums: this.#sums, differences: this.#differences, total: this.#total };
  }

  /** Compares the sums of a span with those that are expected, which are used up. */
  compare(
    { name, key, unit, unitMs, amounts, ids }: Table,
    expected: Keyed,
    fromMs: number,
    toMs: number,
  ): void {
    const stored: StatementSync = this.#database.prepare(
      `select ${[...key, ...amounts].join(", ")}, ${ids} from ${name} where ${unit} >= ? and ${unit} < ?`,
    );
    stored.setReturnArrays(true);
    stored.setReadBigInts(true);
    const at = key.indexOf(unit);
    for (const row of stored.iterate(fromMs / unitMs, toMs / unitMs)) {
      const values = row as unknown as readonly unknown[];
      const text = values.slice(0, key.length).join("\0");
      const sum = expected.get(text);
      expected.delete(text);
      this.#sums += 1;
      for (const [index, amount] of amounts.entries()) {
        const ofRows = BigInt(sum?.amounts[index] ?? 0);
        const found = values[key.length + index];
        if (found === ofRows) continue;
        this.#differ({
          sums: name,
          startMs: Number(values[at]) * unitMs,
          ids: [String(values.at(-1) ?? "")],
          amount,
          stored: typeof found === "bigint" ? found : BigInt(Math.trunc(Number(found ?? 0))),
          ofRows,
        });
      }
    }
    for (const sum of expected.values()) {
      this.#sums += 1;
      const others = sum.key.filter((_, place) => place !== at).map(String);
      for (const [index, amount] of amounts.entries()) {
        const ofRows = BigInt(sum.amounts[index] ?? 0);
        if (ofRows !== 0n)
          this.#differ({
            sums: name,
            startMs: Number(sum.key[at]) * unitMs,
            ids: others,
            amount,
            stored: 0n,
            ofRows,
          });
      }
    }
  }

  #differ(difference: SumDifference): void {
    this.#total += 1;
    if (this.#differences.length < MAX_DIFFERENCES) this.#differences.push(difference);
  }
}
