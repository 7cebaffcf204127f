/** Shown rows as a CSV file (RFC 4180). */

interface TextColumn<Row> {
  readonly title: string;
  readonly text?: (row: Row) => string | number | null | undefined;
}

/** Rows as CSV. A text that a spreadsheet would run gets an apostrophe before it. */
export function csvOf<Row>(columns: readonly TextColumn<Row>[], rows: readonly Row[]): string {
  const listed = columns.filter(({ text }) => text !== undefined);
  const lines = [
    listed.map(({ title }) => cellOf(title)),
    ...rows.map((row) => listed.map(({ text }) => cellOf(text?.(row)))),
  ];
  return lines.map((cells) => `${cells.join(",")}\r\n`).join("");
}

function cellOf(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Lets the browser save rows as a file. */
export function downloadCsv<Row>(
  name: string,
  columns: readonly TextColumn<Row>[],
  rows: readonly Row[],
): void {
  downloadText(`${fileName(name)}.csv`, csvOf(columns, rows), "text/csv");
}

/** Lets the browser save a text as a file. */
export function downloadText(name: string, text: string, type = "text/plain"): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function fileName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
