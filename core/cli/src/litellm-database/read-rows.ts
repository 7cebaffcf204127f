/** Reads files of a database export: CSV with a header, JSON lines, or a JSON array. */

import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { parse } from "csv-parse";
import { errorMessage } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import type { Row } from "./values.ts";

/** A row, and the line at which it ends. */
export interface ReadRow {
  readonly row: Row;
  readonly line: number;
}

/** Characters of one row. */
const MAX_ROW = 4 * 1024 * 1024;

/** The rows of a file. Throws an `Error` that names the line for a file of another form. */
export async function* readRows(path: string): AsyncGenerator<ReadRow> {
  const first = await firstCharacter(path);
  if (first === undefined) return;
  if (first === "[") yield* rowsOfArray(path);
  else if (first === "{") yield* rowsOfLines(path);
  else yield* rowsOfCsv(path);
}

async function firstCharacter(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(4_096), 0, 4_096, 0);
    return buffer
      .toString("utf8", 0, bytesRead)
      .replace(/^\uFEFF/, "")
      .trimStart()[0];
  } finally {
    await file.close();
  }
}

async function* rowsOfCsv(path: string): AsyncGenerator<ReadRow> {
  const rows = createReadStream(path).pipe(
    parse({ columns: true, bom: true, info: true, max_record_size: MAX_ROW }),
  ) as AsyncIterable<{ readonly record: Row; readonly info: { readonly lines: number } }>;
  for await (const { record, info } of rows) yield { row: record, line: info.lines };
}

async function* rowsOfLines(path: string): AsyncGenerator<ReadRow> {
  let line = 0;
  for await (const text of createInterface({
    input: createReadStream(path),
    crlfDelay: Infinity,
  })) {
    line += 1;
    const written = text.replace(/^\uFEFF/, "").trim();
    if (written !== "") yield { row: rowOf(written, line), line };
  }
}

async function* rowsOfArray(path: string): AsyncGenerator<ReadRow> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path)) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks)
    .toString("utf8")
    .replace(/^\uFEFF/, "");
  const rows: unknown = parseJson(text, 1);
  for (const row of Array.isArray(rows) ? (rows as readonly unknown[]) : []) {
    if (!isObject(row)) throw new Error("line 1: the array holds something other than objects");
    yield { row, line: 1 };
  }
}

function rowOf(text: string, line: number): Row {
  const row = parseJson(text, line);
  if (!isObject(row)) throw new Error(`line ${line}: not a JSON object`);
  return row;
}

function parseJson(text: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const advice = text.includes("\\\\")
      ? "; \\copy doubles backslashes: export JSON with psql -At"
      : "";
    const message = `line ${line}: not valid JSON (${errorMessage(error)})${advice}`;
    throw new Error(message, { cause: error });
  }
}
