/** Keys and teams on a terminal: a table, or one line for each member. */

import type { JsonObject, JsonValue } from "@sluice/contract";

/** Prints rows under the names of their columns. */
export function printTable(
  columns: Readonly<Record<string, (row: JsonObject) => JsonValue | undefined>>,
  rows: readonly JsonObject[],
): void {
  const lines = [
    Object.keys(columns),
    ...rows.map((row) => Object.values(columns).map((read) => shown(read(row)))),
  ];
  const widths = Object.keys(columns).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

/** Prints the members of a record that say something. */
export function printRecord(record: JsonObject): void {
  const members = Object.entries(record).filter(([, value]) => shown(value) !== "");
  const width = Math.max(0, ...members.map(([name]) => name.length));
  for (const [name, value] of members) console.log(`${name.padEnd(width)}  ${shown(value)}`);
}

function shown(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(shown).join(", ");
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text === "{}" ? "" : text;
}
