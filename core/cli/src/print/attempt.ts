/** Prints the result of an edit. */

import { shortOf } from "./digest.ts";

/** The result of an edit, as the admin interface answers it. */
export interface Attempt {
  readonly outcome: string;
  readonly at: string;
  readonly digest: string | null;
  readonly generation: number | null;
  readonly reason: string | null;
  readonly author: string | null;
  readonly findings: readonly { readonly text: string }[];
  /** With several workers: the result of each. */
  readonly workers?: readonly {
    readonly worker: number;
    readonly outcome: string;
    readonly generation: number | null;
  }[];
}

/** Prints the findings and the result of an edit. */
export function printAttempt({
  outcome,
  digest,
  generation,
  findings,
  reason,
  workers = [],
}: Attempt): void {
  for (const { text } of findings) console.log(text);
  const madeOf = (number: number | null): string =>
    number === null ? "" : `: generation ${number}`;
  const asked = workers.filter((each) => each.outcome !== "not_asked");
  const isOneOutcome = asked.every(
    (each) => each.outcome === outcome && each.generation === generation,
  );
  for (const each of isOneOutcome ? [] : asked) {
    console.log(
      `worker ${each.worker}: ${each.outcome.replace("_", " ")}${madeOf(each.generation)}`,
    );
  }
  const made = madeOf(generation);
  const why = reason === null ? "" : `, because ${reason}`;
  console.log(`${outcome}${made}${digest === null ? "" : ` (digest ${shortOf(digest)})`}${why}`);
}
