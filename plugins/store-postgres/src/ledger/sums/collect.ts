/** Adds rows up in memory, so that each sum is written once and not for each row. */

import type { SpendRow } from "@sluice/contract";
import { DAY_MS, HOUR_MS, TOTAL_MS } from "@sluice/store-sql/sums";
import { withoutNul } from "@sluice/store-sql/text";
import { AMOUNTS } from "./amounts.ts";

/** The names of a cell: organization, team, user, key, model, model group and provider. */
export type CellNames = readonly [
  organization: string,
  team: string,
  user: string,
  key: string,
  model: string,
  group: string,
  provider: string,
];

/** A sum: its key in the order of the table's columns, and its amounts. */
export interface Sum {
  readonly key: readonly (string | number)[];
  readonly amounts: bigint[];
}

/** The sums of some rows, by the text of their keys. */
export interface Sums {
  readonly hours: Map<string, Sum>;
  readonly days: Map<string, Sum>;
  readonly tags: Map<string, Sum>;
  readonly customers: Map<string, Sum>;
  /** The cost alone. */
  readonly totals: Map<string, Sum>;
}

/** The cell of a row. */
export function cellNames(row: SpendRow): CellNames {
  return [
    text(row.organizationId),
    text(row.teamId),
    text(row.userId),
    text(row.keyId),
    text(row.model),
    text(row.modelGroup),
    providerOf(row),
  ];
}

/** Adds up rows whose cells have ids. */
export function sumUp(rows: readonly SpendRow[], cellOf: (row: SpendRow) => number): Sums {
  const sums: Sums = {
    hours: new Map(),
    days: new Map(),
    tags: new Map(),
    customers: new Map(),
    totals: new Map(),
  };
  for (const row of rows) {
    const cell = cellOf(row);
    const added = AMOUNTS.map(({ of }) => of(row));
    const hour = Math.floor(row.startedAtMs / HOUR_MS);
    const day = Math.floor(row.startedAtMs / DAY_MS);
    const tags = new Set(row.tags.map(withoutNul).filter((tag) => tag !== ""));
    addTo(sums.hours, [hour, cell], added);
    addTo(sums.days, [day, cell], added);
    for (const tag of tags) addTo(sums.tags, [hour, tag, cell], added);
    const customer = text(row.endUser);
    if (customer !== "") addTo(sums.customers, [day, customer, cell], added);
    addTotals(sums.totals, row, tags);
  }
  return sums;
}

function addTotals(totals: Sums["totals"], row: SpendRow, tags: ReadonlySet<string>): void {
  const { costNanoUsd } = row;
  if (typeof costNanoUsd !== "number" || costNanoUsd === 0) return;
  const span = Math.floor(row.startedAtMs / TOTAL_MS);
  const [organization, team, , , model, group, provider] = cellNames(row);
  const named = Object.entries({ organization, team, provider }).filter(([, id]) => id !== "");
  const subjects = [
    "all",
    ...named.map(([kind, id]) => `${kind}:${id}`),
    ...Array.from(tags, (tag) => `tag:${tag}`),
  ];
  for (const subject of subjects) addTo(totals, [subject, span, model, group], [costNanoUsd]);
}

function addTo(
  sums: Map<string, Sum>,
  key: readonly (string | number)[],
  added: readonly number[],
): void {
  const name = key.join("\0");
  let sum = sums.get(name);
  if (sum === undefined) sums.set(name, (sum = { key, amounts: added.map(() => 0n) }));
  for (const [index, amount] of added.entries())
    sum.amounts[index] = (sum.amounts[index] ?? 0n) + BigInt(amount);
}

/** The provider's name in the configuration: the first part of a target's id. */
function providerOf({ targetId }: SpendRow): string {
  return text(targetId).split("/", 1)[0] ?? "";
}

function text(value: string | null | undefined): string {
  return typeof value === "string" ? withoutNul(value) : "";
}
