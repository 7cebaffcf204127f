/** Adds rows up in memory, so that each sum is written once and not for each row. */

import { DAY_MS, HOUR_MS, TOTAL_MS } from "@sluice/store-sql/sums";
import {
  addAmounts,
  AMOUNT_COLUMNS,
  type Amounts,
  amountsOf,
  AT,
  costOf,
  type LedgerValues,
  plus,
} from "./amounts.ts";
import { providerOf, type SumIds, tagsOf, textOf } from "./ids.ts";

/** Sums by the text of their key: the members of `key` in the order of the table's primary key. */
export type Summed<Key extends readonly (string | number)[]> = Map<
  string,
  { readonly key: Key; readonly amounts: Amounts }
>;

/** The sums of some rows. */
export class SumsOfRows {
  readonly #ids: SumIds;
  readonly hours: Summed<readonly [hour: number, cell: number]> = new Map();
  readonly tags: Summed<readonly [hour: number, tag: number, cell: number]> = new Map();
  readonly customers: Summed<readonly [day: number, customer: string, cell: number]> = new Map();
  /** The cost alone. */
  readonly totals: Summed<readonly [subject: string, span: number, modelId: number]> = new Map();

  constructor(ids: SumIds) {
    this.#ids = ids;
  }

  /** Counts a row, in the order of `LEDGER_COLUMNS`. One without a time does not count. */
  add(row: LedgerValues): void {
    const atMs = row[AT.started_at_ms];
    if (typeof atMs !== "number") return;
    const cell = this.#ids.cellOf(row);
    const amounts = amountsOf(row);
    const hour = Math.floor(atMs / HOUR_MS);
    addTo(this.hours, [hour, cell.id], amounts);
    for (const tag of tagsOf(row)) addTo(this.tags, [hour, this.#ids.tagOf(tag), cell.id], amounts);
    const customer = textOf(row, AT.end_user);
    if (customer !== "")
      addTo(this.customers, [Math.floor(atMs / DAY_MS), customer, cell.id], amounts);
    this.#addTotals(row, Math.floor(atMs / TOTAL_MS), cell.modelId);
  }

  #addTotals(row: LedgerValues, span: number, modelId: number): void {
    const cost = costOf(row);
    if (cost === 0) return;
    for (const subject of subjectsOf(row)) {
      const key = [subject, span, modelId] as const;
      const name = key.join("\0");
      const sum = this.totals.get(name);
      if (sum === undefined) this.totals.set(name, { key, amounts: [cost] });
      else sum.amounts[0] = plus(sum.amounts[0] ?? 0, cost);
    }
  }
}

const NOTHING: readonly number[] = AMOUNT_COLUMNS.map(() => 0);

function addTo<Key extends readonly (string | number)[]>(
  sums: Summed<Key>,
  key: Key,
  amounts: readonly number[],
): void {
  const name = key.join("\0");
  let sum = sums.get(name);
  if (sum === undefined) sums.set(name, (sum = { key, amounts: [...NOTHING] }));
  addAmounts(sum.amounts, amounts);
}

/**
 * The subjects of a row that totals are kept for: those with so many cells that a budget cannot
 * begin with a walk over them.
 */
function subjectsOf(row: LedgerValues): readonly string[] {
  const subjects = ["all"];
  const organization = textOf(row, AT.organization_id);
  const team = textOf(row, AT.team_id);
  const provider = providerOf(row);
  if (organization !== "") subjects.push(`organization:${organization}`);
  if (team !== "") subjects.push(`team:${team}`);
  if (provider !== "") subjects.push(`provider:${provider}`);
  for (const tag of tagsOf(row)) subjects.push(`tag:${tag}`);
  return subjects;
}
