/**
 * Totals of the ledger: what each subject has spent in each quarter of an hour, so that no budget
 * begins with a walk over all rows.
 */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { LEDGER_COLUMNS } from "./columns.ts";

/** The length of a total's span. Every time zone's days begin at a quarter of an hour. */
export const TOTAL_MS = 900_000;

const AT = Object.fromEntries(LEDGER_COLUMNS.map((name, index) => [name, index])) as Record<
  (typeof LEDGER_COLUMNS)[number],
  number
>;

/**
 * Adds rows up, and writes their totals in the transaction that inserts them: a statement for each
 * total, not for each row.
 */
export class TotalsOfRows {
  readonly #bySpan = new Map<number, Map<string, number>>();

  /** Counts a row that was inserted; its values are in the order of `LEDGER_COLUMNS`. */
  add(row: readonly SQLInputValue[]): void {
    const [cost, startedAtMs] = [row[AT.cost_nano_usd], row[AT.started_at_ms]];
    if (typeof cost !== "number" || cost === 0 || typeof startedAtMs !== "number") return;
    const span = Math.floor(startedAtMs / TOTAL_MS);
    let totals = this.#bySpan.get(span);
    if (totals === undefined) this.#bySpan.set(span, (totals = new Map()));
    for (const subject of subjectsOf(row)) totals.set(subject, (totals.get(subject) ?? 0) + cost);
  }

  /** Hands out each total once. */
  *[Symbol.iterator](): Generator<readonly [subject: string, span: number, nanoUsd: number]> {
    for (const [span, totals] of this.#bySpan)
      for (const [subject, nanoUsd] of totals) yield [subject, span, nanoUsd];
  }
}

/** Prepares the statement that adds to totals. */
export function createTotalsWriter(database: DatabaseSync): (totals: TotalsOfRows) => void {
  const write = database.prepare(
    `insert into spent (subject, span, nano_usd) values (?, ?, ?)
     on conflict (subject, span) do update set nano_usd = nano_usd + excluded.nano_usd`,
  );
  return (totals) => {
    for (const total of totals) write.run(...total);
  };
}

function subjectsOf(row: readonly SQLInputValue[]): string[] {
  const subjects = ["all"];
  const [key, user, team, target, tags] = [
    row[AT.key_id],
    row[AT.user_id],
    row[AT.team_id],
    row[AT.target_id],
    row[AT.tags],
  ];
  if (typeof key === "string") subjects.push(`key:${key}`);
  if (typeof user === "string") subjects.push(`user:${user}`);
  if (typeof team === "string") subjects.push(`team:${team}`);
  if (typeof target === "string") subjects.push(`provider:${target.split("/", 1)[0]}`);
  if (typeof tags === "string")
    for (const tag of new Set(JSON.parse(tags) as string[])) subjects.push(`tag:${tag}`);
  return subjects;
}
