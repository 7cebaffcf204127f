/** What upstreams send and receive, as the fixtures of the provider packages have it. */

import { fixtureInput } from "@sluice/testing";

/** An error reply, as the cases `error-*` have it. */
export interface FailureFixture {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/**
 * The fixtures of a package; a title is the path of a table and one of its cases:
 * `gemini/text/reply`.
 */
export interface Fixtures {
  bytes(title: string): Buffer;
  text(title: string): string;
  /** Throws a `SyntaxError` for an input that is not JSON. */
  json<T>(title: string): T;
}

/**
 * The fixtures of a package of `plugins/`. Each method throws `ContractFault` for a case that is
 * absent.
 */
export function fixturesOf(packageName: string): Fixtures {
  const folder = new URL(`../../../plugins/${packageName}/fixtures/`, import.meta.url);
  const bytes = (title: string): Buffer => fixtureInput(folder, title);
  const text = (title: string): string => bytes(title).toString("utf8");
  return { bytes, text, json: <T>(title: string) => JSON.parse(text(title)) as T };
}
