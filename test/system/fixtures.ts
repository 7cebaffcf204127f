/** What providers send and are sent, as the fixtures of their packages have it. */

import { readFileSync } from "node:fs";

/** An error reply, as `error-*.in.json` has it. */
export interface FailureFixture {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The fixtures of a package. */
export interface Fixtures {
  bytes(name: string): Buffer;
  text(name: string): string;
  /** Throws a `SyntaxError` for what is no JSON. */
  json<T>(name: string): T;
}

/** The fixtures of a package of `plugins/`; names are paths within its `fixtures/`. */
export function fixturesOf(packageName: string): Fixtures {
  const folder = new URL(`../../plugins/${packageName}/fixtures/`, import.meta.url);
  const bytes = (name: string): Buffer => readFileSync(new URL(name, folder));
  const text = (name: string): string => bytes(name).toString("utf8");
  return { bytes, text, json: <T>(name: string) => JSON.parse(text(name)) as T };
}
