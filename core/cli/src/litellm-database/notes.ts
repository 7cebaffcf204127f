/** Remarks about an import: each loss is named once, with its rows. */

import type { JsonObject } from "@sluice/contract";
import type { TableName } from "./entries/entry.ts";

/**
 * `left out`: the row was not imported. `blocked`: it was, and is blocked. `changed`: it was, and
 * bounds otherwise. `missing`: a column of it was not.
 */
export type NoteKind = "left out" | "blocked" | "changed" | "missing";

/** The rows that one note lists. It counts all. */
const MAX_ROWS = 1_000;
/** Different notes. Beyond them only the counts of the tables grow. */
const MAX_NOTES = 10_000;

/** A row: its file and the line at which it ends, and what messages call it. */
export interface NotedRow {
  readonly at: string;
  readonly name: string;
}

/** One remark about rows. */
export interface DatabaseNote {
  readonly kind: NoteKind;
  readonly table: TableName | "export";
  /** The column, and why. */
  readonly what: string;
  count: number;
  readonly rows: NotedRow[];
}

/** Collects remarks. */
export class Notes {
  readonly #notes = new Map<string, DatabaseNote>();

  add(kind: NoteKind, table: DatabaseNote["table"], what: string, row: NotedRow): void {
    const key = JSON.stringify([kind, table, what]);
    let note = this.#notes.get(key);
    if (note === undefined) {
      if (this.#notes.size >= MAX_NOTES) return;
      this.#notes.set(key, (note = { kind, table, what, count: 0, rows: [] }));
    }
    note.count += 1;
    if (note.rows.length < MAX_ROWS) note.rows.push(row);
  }

  /** The remarks, those about rows that were left out first. */
  list(): readonly DatabaseNote[] {
    const kinds: readonly NoteKind[] = ["left out", "blocked", "changed", "missing"];
    return [...this.#notes.values()].toSorted(
      (one, other) => kinds.indexOf(one.kind) - kinds.indexOf(other.kind),
    );
  }
}

/** A remark for `--json`. */
export function noteJson({ kind, table, what, count, rows }: DatabaseNote): JsonObject {
  return { kind, table, what, count, rows: rows.map((row) => ({ ...row })) };
}
