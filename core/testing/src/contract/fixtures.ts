/** Fixtures of a provider: tables of cases, each with what goes in and what must come out. */

import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue, Operation, Price } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { type CaseRow, type CaseTable, readTables, rowInput, writeRow } from "./case-table.ts";
import { ContractFault } from "./fault.ts";

/** What the cases of one table have in common. */
export interface CaseTerms {
  /**
   * Where the shapes are documented: a URL, or a package with its version and the name of a type.
   */
  readonly source: string;
  readonly model: string;
  readonly operation: Operation;
  /** Options of the provider, beside the suite's. */
  readonly config: JsonObject;
  /** What the usages are priced with; absent: no cost is compared. */
  readonly price: Price | undefined;
  /** `content-type` of streams that are no `text/event-stream`. */
  readonly contentType: string;
}

/** What kind of fixture a case is. */
export type FixtureKind = "request" | "reply" | "stream" | "error";

/** One case. */
export interface Fixture {
  readonly kind: FixtureKind;
  /** `tools/stream-cut`: the table and the case. */
  readonly title: string;
  readonly input: Uint8Array;
  /** Compares what came out with the case's `expected`; see {@link compareRow}. */
  expect(actual: JsonValue): void;
}

/** The cases of one table. */
export interface FixtureCase {
  readonly name: string;
  readonly terms: CaseTerms;
  /** The client's body: the case `request`, else one question. */
  readonly body: JsonObject;
  readonly fixtures: readonly Fixture[];
}

/** Reads every table of a folder. Throws `ContractFault` for a faulty one; see `readTables`. */
export function loadCases(folder: string, defaultModel: string): FixtureCase[] {
  return readTables(folder).map((table) => casesOf(table, defaultModel));
}

function casesOf(table: CaseTable, defaultModel: string): FixtureCase {
  const { name, about, rows } = table;
  const request = rows.find((row) => row.name === "request");
  const body: unknown = request && JSON.parse(rowInput(table, request).toString());
  return {
    name,
    fixtures: rows.map((row) => ({
      kind: row.name.split("-", 1)[0] as FixtureKind,
      title: `${name}/${row.name}`,
      input: rowInput(table, row),
      expect: (actual) => compareRow(table, row, actual),
    })),
    body: isObject(body)
      ? body
      : { model: "contract/model", messages: [{ role: "user", content: "Hello." }] },
    terms: {
      source: about.source,
      model: typeof about.model === "string" ? about.model : defaultModel,
      operation: (typeof about.operation === "string" ? about.operation : "chat") as Operation,
      config: isObject(about.config) ? about.config : {},
      price: isObject(about.price)
        ? ({ source: "fixture", ...about.price } as unknown as Price)
        : undefined,
      contentType:
        typeof about.content_type === "string" ? about.content_type : "text/event-stream",
    },
  };
}

/**
 * Compares a value with the case's `expected`. An absent one is written into the table, and the
 * test fails so that the author reads it: delete the member to have it written again.
 */
export function compareRow(
  { path }: Pick<CaseTable, "path">,
  row: CaseRow,
  actual: JsonValue,
  kinds?: readonly string[],
): void {
  const plain = JSON.parse(JSON.stringify(actual)) as JsonValue;
  if (row.expected === undefined) {
    writeRow(path, { ...row, expected: plain }, kinds);
    throw new ContractFault(
      `${path}: ${row.name} had no "expected", and has it now. Read it, then run the tests again.`,
    );
  }
  const difference = firstDifference(row.expected, plain, "");
  if (difference !== undefined)
    throw new ContractFault(`${path}, ${row.name}: ${difference}`, row.expected, plain);
}

/** Where two values differ first, in words; `undefined` when they do not. */
export function firstDifference(
  wanted: JsonValue | undefined,
  actual: JsonValue | undefined,
  path: string,
): string | undefined {
  if (isDeepStrictEqual(wanted, actual)) return undefined;
  if (isObject(wanted) && isObject(actual)) {
    for (const name of new Set([...Object.keys(wanted), ...Object.keys(actual)])) {
      const found = firstDifference(wanted[name], actual[name], `${path}.${name}`);
      if (found !== undefined) return found;
    }
  }
  if (Array.isArray(wanted) && Array.isArray(actual)) {
    const [all, got] = [wanted as readonly JsonValue[], actual as readonly JsonValue[]];
    for (let index = 0; index < Math.max(all.length, got.length); index++) {
      const found = firstDifference(all[index], got[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
  }
  return `at ${path === "" ? "the top" : path} ${shown(wanted)} was expected and ${shown(actual)} came.`;
}

function shown(value: JsonValue | undefined): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
