/** Reads files of a database export: CSV with a header, JSON lines, or a JSON array. */

import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { type Readable, Transform } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { isObject, parseJson } from "@sluice/kit";
import type { Row } from "./values.ts";

/** A row, and the line at which it ends. */
export interface ReadRow {
  readonly row: Row;
  readonly line: number;
}

/** Characters of one row. */
const MAX_ROW = 4 * 1024 * 1024;
/** A JSON array is read whole. */
const MAX_ARRAY = 256 * 1024 * 1024;
const HEAD = 4_096;

/** Gets the names of a CSV's header, which may be all that a file has. May throw. */
type OnHeader = (names: readonly string[]) => void;

/**
 * The rows of a file. Throws an `Error` that names the line for a file of another form, and for one
 * that was cut. No message holds what a row holds.
 */
export async function* readRows(
  path: string,
  onHeader: OnHeader = () => undefined,
): AsyncGenerator<ReadRow> {
  const first = await firstCharacter(path);
  if (first === undefined) return;
  if (first === "[") yield* rowsOfArray(path);
  else if (first === "{") yield* rowsOfLines(path);
  else yield* rowsOfCsv(path, onHeader);
}

async function firstCharacter(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const head = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    const [one = 0, two = 0] = head.buffer;
    if ((one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff))
      throw new Error("it is written in UTF-16: export it in UTF-8");
    const text = head.buffer.toString("utf8", 0, head.bytesRead);
    const first = text.replace(/^\uFEFF/, "").trimStart()[0];
    if (first === undefined || first === "[" || first === "{") return first;
    const last = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    // A line that was cut may still have all its columns.
    if (last.buffer[0] !== 0x0a)
      throw new Error("its last line has no end: the file was cut; export it again");
    return first;
  } finally {
    await file.close();
  }
}

async function* rowsOfCsv(path: string, onHeader: OnHeader): AsyncGenerator<ReadRow> {
  const columns = (names: string[]): string[] => {
    onHeader(names);
    // Two equal names would hide a value.
    if (new Set(names).size === names.length) return names;
    throw new Error("line 1: the header names a column twice");
  };
  const parser = parse({ columns, bom: true, info: true, max_record_size: MAX_ROW });
  const source = checked(path);
  source.on("error", (error) => parser.destroy(error));
  const rows = source.pipe(parser) as AsyncIterable<{
    readonly record: Row;
    readonly info: { readonly lines: number };
  }>;
  try {
    for await (const { record, info } of rows) yield { row: record, line: info.lines };
  } catch (error) {
    throw error instanceof CsvError ? new Error(csvFault(error)) : error;
  } finally {
    source.destroy();
  }
}

/** What is wrong with a file of CSV. The parser's own words may hold what the file holds. */
function csvFault({ code, ...error }: CsvError): string {
  const line = "lines" in error ? `line ${String(error["lines"])}: ` : "";
  const fault = CSV_FAULTS[code] ?? `not valid CSV (${code})`;
  return `${line}${fault}`;
}

const CSV_FAULTS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "a quote is not closed: the file was cut; export it again",
  CSV_RECORD_INCONSISTENT_COLUMNS: "the row has another number of columns than the header",
  CSV_MAX_RECORD_SIZE: `the row has more than ${MAX_ROW} characters`,
};

async function* rowsOfLines(path: string): AsyncGenerator<ReadRow> {
  let line = 0;
  for await (const text of linesOf(path)) {
    line += 1;
    const written = text.replace(/^\uFEFF/, "").trim();
    if (written !== "") yield { row: rowOf(written, line), line };
  }
}

/** The lines of a file. Throws an `Error` for one that is too long: it is not held. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = "";
  let line = 1;
  for await (const chunk of checked(path)) {
    const parts = `${rest}${String(chunk)}`.split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      if (part.length > MAX_ROW) throw tooLong(line);
      line += 1;
      yield part;
    }
    if (rest.length > MAX_ROW) throw tooLong(line);
  }
  yield rest;
}

function tooLong(line: number): Error {
  return new Error(`line ${line}: the row has more than ${MAX_ROW} characters`);
}

async function* rowsOfArray(path: string): AsyncGenerator<ReadRow> {
  if ((await stat(path)).size > MAX_ARRAY)
    throw new Error(`the array has more than ${MAX_ARRAY} bytes: export one row a line`);
  let text = "";
  for await (const chunk of checked(path)) text += String(chunk);
  const rows: unknown = parseRow(text.replace(/^\uFEFF/, ""), 1);
  for (const row of Array.isArray(rows) ? (rows as readonly unknown[]) : []) {
    if (!isObject(row)) throw new Error("line 1: the array holds something other than objects");
    yield { row, line: 1 };
  }
}

/** The text of a file. Fails with an `Error` for bytes that are not UTF-8: ids would change. */
function checked(path: string): Readable {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const decoding = new Transform({
    decodeStrings: true,
    encoding: "utf8",
    transform(chunk: Buffer, _encoding, done) {
      decode(() => decoder.decode(chunk, { stream: true }), done);
    },
    flush(done) {
      decode(() => decoder.decode(), done);
    },
  });
  const source = createReadStream(path);
  source.on("error", (error) => decoding.destroy(error));
  decoding.on("close", () => source.destroy());
  return source.pipe(decoding);
}

function decode(read: () => string, done: (error: Error | null, text?: string) => void): void {
  let text: string;
  try {
    text = read();
  } catch {
    done(new Error("it is not written in UTF-8: export it in UTF-8"));
    return;
  }
  done(null, text);
}

function rowOf(text: string, line: number): Row {
  const row = parseRow(text, line);
  if (!isObject(row)) throw new Error(`line ${line}: not a JSON object`);
  return row;
}

/** The parser's own words would hold a piece of the row. */
function parseRow(text: string, line: number): unknown {
  try {
    return parseJson(text);
  } catch {
    const advice = text.includes("\\\\")
      ? "\\copy doubles backslashes: export JSON with psql -At"
      : "the file was cut, or has another form";
    throw new Error(`line ${line}: not valid JSON; ${advice}`);
  }
}
