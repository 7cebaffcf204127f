/** Ids of cells: a sum names its scopes, model and provider by one number. */

import type { SpendRow } from "@sluice/contract";
import type { Pool } from "pg";
import { type CellNames, cellNames } from "./collect.ts";

const COLUMNS = "organization_id, team_id, user_id, key_id, model, model_group, provider";
const LISTS = [1, 2, 3, 4, 5, 6, 7].map((index) => `$${index}::text[]`).join(", ");
/** Ids in memory. They are dropped together when there are more. */
const MAX_CELLS = 50_000;

/** Finds the cells of rows, and makes those that are missing. */
export class Cells {
  readonly #pool: Pool;
  readonly #known = new Map<string, number>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Returns the function that has the id of each row's cell. Missing cells are made in a
   * transaction of their own: no other writer waits for the rows.
   */
  async of(rows: readonly SpendRow[]): Promise<(row: SpendRow) => number> {
    const names = new Map(rows.map(cellNames).map((cell) => [cell.join("\0"), cell]));
    if (this.#known.size + names.size > MAX_CELLS) this.#known.clear();
    const unknown = [...names].filter(([text]) => !this.#known.has(text)).map(([, cell]) => cell);
    if (unknown.length > 0) await this.#find(unknown);
    const found = new Map([...names.keys()].map((text) => [text, this.#known.get(text)]));
    return (row) => {
      const id = found.get(cellNames(row).join("\0"));
      if (id === undefined) throw new Error("a cell of the sums has no id");
      return id;
    };
  }

  async #find(cells: readonly CellNames[]): Promise<void> {
    const sorted = cells.toSorted((a, b) => (a.join("\0") < b.join("\0") ? -1 : 1));
    const lists = [0, 1, 2, 3, 4, 5, 6].map((index) => sorted.map((cell) => cell[index]));
    await this.#pool.query(
      `insert into spend_cell (${COLUMNS}) select * from unnest(${LISTS}) on conflict do nothing`,
      lists,
    );
    const { rows } = await this.#pool.query<Record<string, string> & { readonly id: number }>(
      `select id, ${COLUMNS} from spend_cell where (${COLUMNS}) in (select * from unnest(${LISTS}))`,
      lists,
    );
    for (const row of rows) {
      const names = COLUMNS.split(", ").map((column) => row[column]);
      this.#known.set(names.join("\0"), row.id);
    }
  }
}
