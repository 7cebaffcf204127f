/**
 * Tables of cases, `*.cases.json`: what goes into a provider and what must come out, one row for
 * each case.
 */

import { Buffer } from "node:buffer";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { ContractFault } from "./fault.ts";
import { layoutJson } from "./layout.ts";

const SUFFIX = ".cases.json";
const KINDS = ["request", "reply", "stream", "error"] as const;

/** One case: `given` or `file`, and `expected`. */
export interface CaseRow {
  /** Its kind, and its distinguishing part: `reply`, `reply-cached`, `error-429`. */
  readonly name: string;
  /** Where this case comes from, if not from the table's source. */
  readonly source?: string;
  /** What goes in, as JSON. */
  readonly given?: JsonValue;
  /** What goes in, byte for byte: the path of a file, from the table's folder. */
  readonly file?: string;
  /** What must come out. Absent: the next run of the contract writes it. */
  readonly expected?: JsonValue;
  /** Of a face: what the client's request has beside its body; see `FaceClient`. */
  readonly client?: JsonObject;
  /** Of a stream of a face: why its whole form differs from the folded stream. */
  readonly unlike_whole?: string;
}

/** One table. */
export interface CaseTable {
  readonly path: string;
  /** `tools` for `tools.cases.json`. */
  readonly name: string;
  /** What the cases have in common: every member but `cases`. `source` is a text. */
  readonly about: JsonObject & { readonly source: string };
  readonly rows: readonly CaseRow[];
}

/**
 * Reads the tables of a folder, in the order of their names. Throws `ContractFault` for a table
 * without a source or without cases, a case that is not one, and a file below the folder that no
 * case names. `kinds`: the kinds of cases that a table may have.
 */
export function readTables(folder: string, kinds: readonly string[] = KINDS): CaseTable[] {
  const root = resolve(folder);
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const tables = files
    .filter((path) => dirname(path) === root && path.endsWith(SUFFIX))
    .map((path) => readTable(path, kinds))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const known = new Set(
    tables.flatMap((table) => [
      table.path,
      ...table.rows.flatMap((row) => rowFile(table, row) ?? []),
    ]),
  );
  const unknown = files.find((path) => !known.has(path));
  if (unknown !== undefined)
    throw new ContractFault(
      `${unknown} is named by no case of a table: add a case with its path in "file".`,
    );
  return tables;
}

/** Reads one table. Throws as {@link readTables} does. */
export function readTable(path: string, kinds: readonly string[] = KINDS): CaseTable {
  const value: unknown = JSON.parse(readFileSync(path, "utf8"));
  const { cases, ...about } = isObject(value) ? value : {};
  if (typeof about.source !== "string" || about.source === "")
    throw new ContractFault(`${path} needs a "source".`);
  if (!Array.isArray(cases) || cases.length === 0)
    throw new ContractFault(`${path} needs "cases".`);
  const table: CaseTable = {
    path,
    name: basename(path, SUFFIX),
    about: { ...about, source: about.source },
    rows: cases as readonly CaseRow[],
  };
  const names = new Set<string>();
  const pattern = new RegExp(`^(?:${kinds.join("|")})(?:-[a-z0-9-]+)?$`);
  for (const row of table.rows) {
    if (!isObject(row) || typeof row.name !== "string" || !pattern.test(row.name)) {
      throw new ContractFault(
        `${path}: a case needs a "name" such as request, reply-cached, stream or error-429.`,
      );
    }
    if (names.has(row.name))
      throw new ContractFault(`${path}: two cases have the name ${row.name}.`);
    names.add(row.name);
    const file = rowFile(table, row);
    if ((row.given === undefined) === (file === undefined)) {
      throw new ContractFault(`${path}: the case ${row.name} needs either "given" or "file".`);
    }
    if (file !== undefined && !existsSync(file))
      throw new ContractFault(`${path}: the case ${row.name} names ${file}, which is absent.`);
  }
  return table;
}

/** The path of the table with a name in a folder. */
export function tablePath(folder: string, name: string): string {
  return join(folder, `${name}${SUFFIX}`);
}

/** What goes in: the bytes of the file, or `given` as JSON with two spaces a level. */
export function rowInput(table: CaseTable, row: CaseRow): Buffer {
  const file = rowFile(table, row);
  return file === undefined
    ? Buffer.from(`${JSON.stringify(row.given, null, 2)}\n`)
    : readFileSync(file);
}

/**
 * Stores a row in the table as it is on the disk now: in the place of the one with its name, or as
 * the last.
 */
export function writeRow(path: string, row: CaseRow, kinds: readonly string[] = KINDS): void {
  const { about, rows } = readTable(path, kinds);
  const isNew = rows.every(({ name }) => name !== row.name);
  const cases = isNew ? [...rows, row] : rows.map((each) => (each.name === row.name ? row : each));
  writeFileSync(path, layoutJson({ ...about, cases } as unknown as JsonValue));
}

/**
 * What goes into the provider in one case, for tests that play the upstream. `title` is the path of
 * the table without its ending, and the case: `text/reply`, `groq/errors/error-429`. Throws
 * `ContractFault` when the table has no such case.
 */
export function fixtureInput(folder: URL, title: string): Buffer {
  const table = readTable(tablePath(fileURLToPath(folder), dirname(title)));
  const row = table.rows.find(({ name }) => name === basename(title));
  if (row === undefined) throw new ContractFault(`${table.path} has no case ${basename(title)}.`);
  return rowInput(table, row);
}

function rowFile({ path }: CaseTable, { file }: CaseRow): string | undefined {
  return file === undefined ? undefined : join(dirname(path), file);
}
