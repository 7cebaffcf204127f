/** Adds rows up in memory, so that each sum is written once and not for each row. */

import { DAY_MS, HOUR_MS, TOTAL_MS } from "@sluice/store-sql/sums";
import {
  addAmounts,
  addRow,
  AMOUNT_AT,
  type Amounts,
  AT,
  type LedgerValues,
  noAmounts,
  plus,
} from "./amounts.ts";
import { providerOf, type SumIds, tagsOf, textOf } from "./ids.ts";

/** Sums by the text of their key: the members of `key` in the order of the table's primary key. */
export type Summed<Key extends readonly (string | number)[]> = Map<
  string,
  { readonly key: Key; readonly amounts: Amounts }
>;

/** The sums of rows, by table. */
export interface TableSums {
  readonly hours: Summed<readonly [hour: number, cell: number]>;
  readonly tags: Summed<readonly [hour: number, tag: number, cell: number]>;
  readonly customers: Summed<readonly [day: number, customer: string, cell: number]>;
  /** The cost alone. */
  readonly totals: Summed<readonly [subject: string, span: number, modelId: number]>;
}

/** Columns that decide which sums a row belongs to, beside its time. */
const GROUPED = [
  AT.end_user,
  AT.key_id,
  AT.model,
  AT.target_id,
  AT.tags,
  AT.user_id,
  AT.team_id,
  AT.model_group,
  AT.organization_id,
] as const;

/** Groups that are compared with a row one by one. Others are found by a text. */
const MAX_RECENT = 8;

/** Rows that belong to the same sums. */
interface Group {
  /** One of its rows. */
  readonly row: LedgerValues;
  readonly span: number;
  readonly amounts: Amounts;
}

/**
 * Rows to be summed. The rows of a batch have few groups, so a row costs a comparison and its
 * additions, and a group costs the rest.
 */
export class SumsOfRows {
  readonly #groups = new Map<string, Group>();
  readonly #recent: Group[] = [];
  /** The place in `#recent` that the next group takes. */
  #next = 0;

  /** Counts a row, in the order of `LEDGER_COLUMNS`. One without a time does not count. */
  add(row: LedgerValues): void {
    const atMs = row[AT.started_at_ms];
    if (typeof atMs !== "number") return;
    addRow(this.#groupOf(row, Math.floor(atMs / TOTAL_MS)).amounts, row);
  }

  /** The sums of all rows, with ids for their cells and tags. */
  byTable(ids: SumIds): TableSums {
    const sums = emptySums();
    for (const group of this.#groups.values()) addGroup(sums, group, ids);
    return sums;
  }

  #groupOf(row: LedgerValues, span: number): Group {
    for (const group of this.#recent)
      if (group.span === span && isSame(group.row, row)) return group;
    const name = `${span}\0${GROUPED.map((at) => row[at]).join("\0")}`;
    let group = this.#groups.get(name);
    if (group === undefined) this.#groups.set(name, (group = { row, span, amounts: noAmounts() }));
    this.#recent[this.#next] = group;
    this.#next = (this.#next + 1) % MAX_RECENT;
    return group;
  }
}

function isSame(one: LedgerValues, other: LedgerValues): boolean {
  for (let index = 0; index < GROUPED.length; index++) {
    const at = GROUPED[index]!;
    if (one[at] !== other[at]) return false;
  }
  return true;
}

function emptySums(): TableSums {
  return { hours: new Map(), tags: new Map(), customers: new Map(), totals: new Map() };
}

function addGroup(sums: TableSums, { row, span, amounts }: Group, ids: SumIds): void {
  const cell = ids.cellOf(row);
  const hour = Math.floor((span * TOTAL_MS) / HOUR_MS);
  addTo(sums.hours, [hour, cell.id], amounts);
  for (const tag of tagsOf(row)) addTo(sums.tags, [hour, ids.tagOf(tag), cell.id], amounts);
  const customer = textOf(row, AT.end_user);
  if (customer !== "") {
    const day = Math.floor((span * TOTAL_MS) / DAY_MS);
    addTo(sums.customers, [day, customer, cell.id], amounts);
  }
  const cost = amounts[AMOUNT_AT.nano_usd] ?? 0;
  if (cost === 0) return;
  for (const subject of subjectsOf(row)) {
    const key = [subject, span, cell.modelId] as const;
    const name = key.join("\0");
    const sum = sums.totals.get(name);
    if (sum === undefined) sums.totals.set(name, { key, amounts: [cost] });
    else sum.amounts[0] = plus(sum.amounts[0] ?? 0, cost);
  }
}

function addTo<Key extends readonly (string | number)[]>(
  sums: Summed<Key>,
  key: Key,
  amounts: Amounts,
): void {
  const name = key.join("\0");
  let sum = sums.get(name);
  if (sum === undefined) sums.set(name, (sum = { key, amounts: noAmounts() }));
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
