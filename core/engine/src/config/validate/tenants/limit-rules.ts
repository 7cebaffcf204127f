/**
 * Rules of limits that a schema cannot express: one spelling, and a soft budget below the budget.
 */

import { formatPath, valueAtPath } from "../../files/path.ts";
import { sectionOf } from "../entries.ts";
import type { Fault } from "../explain.ts";

type Path = readonly (string | number)[];

/** Limits that have several words: the first is the one to keep. */
const WORDS: readonly (readonly (readonly string[])[])[] = [
  [["rpm"], ["rpm_limit"], ["requests"]],
  [["tpm"], ["tpm_limit"], ["tokens"]],
  [["max_parallel_requests"], ["max_parallel"], ["parallel"]],
  [["max_budget"], ["budget", "max"]],
  [["soft_budget"], ["budget", "soft"]],
  [["budget_duration"], ["budget", "duration"]],
  [["budget_anchor"], ["budget", "anchor"]],
];

/** The faults of an entry's limits, those by model included. */
export function limitFaults(entry: unknown, at: Path): Fault[] {
  const perModel = Object.entries(sectionOf(entry, "per_model")) as [string, unknown][];
  return [
    ...amountFaults(entry, at),
    ...perModel.flatMap(([model, amounts]) => amountFaults(amounts, [...at, "per_model", model])),
  ];
}

/** The faults of amounts alone. */
export function amountFaults(entry: unknown, at: Path): Fault[] {
  return [...softFaults(entry, at), ...WORDS.flatMap((words) => wordFaults(entry, at, words))];
}

function softFaults(entry: unknown, at: Path): Fault[] {
  const given = (...paths: Path[]) =>
    paths
      .map((path) => ({ path, value: valueAtPath(entry, path) }))
      .find(({ value }) => typeof value === "number");
  const max = given(["max_budget"], ["budget", "max"]);
  const soft = given(["soft_budget"], ["budget", "soft"]);
  if (max === undefined || soft === undefined || Number(soft.value) <= Number(max.value)) return [];
  const path = [...at, ...soft.path];
  const name = formatPath(max.path);
  const message = `\`${formatPath(path)}\` exceeds \`${name}\`: the warning would never appear`;
  return [{ path, on: "value", message, fix: `write less than \`${name}\`` }];
}

function wordFaults(entry: unknown, at: Path, words: readonly (readonly string[])[]): Fault[] {
  const [first, ...others] = words.filter((word) => valueAtPath(entry, word) !== undefined);
  if (first === undefined) return [];
  return others.map((word): Fault => {
    const path = [...at, ...word];
    const kept = formatPath(first);
    const message = `\`${formatPath(path)}\` is an alias of \`${kept}\`, which is also there`;
    return { path, on: "key", message, fix: `keep \`${kept}\`` };
  });
}
