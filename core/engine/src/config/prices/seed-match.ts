/**
 * Which model of a table of @pydantic/genai-prices a name means, by the clauses of the table. The
 * package's own look-up computes a price each time, at up to half a millisecond, and a list of
 * models looks up hundreds of names. Here the clauses of a table are prepared once.
 */

import { type SeedModel, seedTable, type SeedTable } from "./seed-table.ts";

type Clause = SeedModel["match"];
type Test = (name: string) => boolean;

/** The models of one table, prepared for look-ups. */
interface Matcher {
  readonly models: readonly SeedModel[];
  /** The first model that accepts exactly this name, of those that accept nothing but names. */
  readonly exact: ReadonlyMap<string, number>;
  /** The other models, in the order of the table. */
  readonly tests: readonly { readonly index: number; readonly accepts: Test }[];
}

const matchers = new WeakMap<SeedTable, Matcher>();

/** A date within a name, as in `gpt-4o-20240806`. */
const DATE = /(?<=-)(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=[-:]|$)/g;

/**
 * The first model of a table, and then of the tables that it falls back to, whose clause accepts
 * the name; else the one that accepts it with its dates as `2024-08-06`. `undefined` for an unknown
 * name.
 */
export function matchSeed(table: SeedTable, model: string): SeedModel | undefined {
  const name = model.toLowerCase().trim();
  const found = matchIn(table, name);
  if (found !== undefined) return found;
  const dated = name.replace(DATE, dashed);
  return dated === name ? undefined : matchIn(table, dated);
}

function matchIn(table: SeedTable, name: string): SeedModel | undefined {
  const own = firstOf(matcherOf(table), name);
  if (own !== undefined) return own;
  for (const id of table.fallback_model_providers ?? []) {
    const other = seedTable(id);
    const found = other === undefined ? undefined : firstOf(matcherOf(other), name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function firstOf({ models, exact, tests }: Matcher, name: string): SeedModel | undefined {
  const named = exact.get(name) ?? Infinity;
  const other = tests.find(({ index, accepts }) => index > named || accepts(name));
  return models[Math.min(named, other?.index ?? Infinity)];
}

function matcherOf(table: SeedTable): Matcher {
  const known = matchers.get(table);
  if (known !== undefined) return known;
  const exact = new Map<string, number>();
  const tests: { index: number; accepts: Test }[] = [];
  for (const [index, { match }] of table.models.entries()) {
    const names = namesIn(match);
    if (names === undefined) tests.push({ index, accepts: testOf(match) });
    else for (const name of names) if (!exact.has(name)) exact.set(name, index);
  }
  const matcher = { models: table.models, exact, tests };
  matchers.set(table, matcher);
  return matcher;
}

/** The names that a clause accepts; `undefined` for a clause that accepts a pattern. */
function namesIn(clause: Clause): readonly string[] | undefined {
  if ("equals" in clause) return [clause.equals.toLowerCase()];
  if (!("or" in clause)) return undefined;
  const names: string[] = [];
  for (const one of clause.or) {
    if (!("equals" in one)) return undefined;
    names.push(one.equals.toLowerCase());
  }
  return names;
}

function testOf(clause: Clause): Test {
  if ("or" in clause) {
    const tests = clause.or.map(testOf);
    return (name) => tests.some((accepts) => accepts(name));
  }
  if ("and" in clause) {
    const tests = clause.and.map(testOf);
    return (name) => tests.every((accepts) => accepts(name));
  }
  if ("regex" in clause) {
    const pattern = new RegExp(clause.regex);
    return (name) => pattern.test(name);
  }
  return textTest(clause);
}

function textTest(
  clause: Exclude<Clause, { or: unknown } | { and: unknown } | { regex: unknown }>,
) {
  if ("equals" in clause) return same(clause.equals, (name, text) => name === text);
  if ("starts_with" in clause)
    return same(clause.starts_with, (name, text) => name.startsWith(text));
  if ("ends_with" in clause) return same(clause.ends_with, (name, text) => name.endsWith(text));
  return same(clause.contains, (name, text) => name.includes(text));
}

/** A comparison with a text in lower case. */
function same(text: string, accepts: (name: string, text: string) => boolean): Test {
  const lower = text.toLowerCase();
  return (name) => accepts(name, lower);
}

/** A date of the calendar with dashes; other digits as they are. */
function dashed(date: string, year: string, month: string, day: string): string {
  const time = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return time.getUTCDate() === Number(day) ? `${year}-${month}-${day}` : date;
}
