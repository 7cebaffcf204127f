/** Rounds of several runs, kept in one file, so that a long measurement can be done in parts. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { TargetSlices } from "./tables.ts";

/** The rounds of each scenario. */
export type Collected = Readonly<Record<string, readonly TargetSlices[]>>;

/**
 * Adds the rounds of a scenario to those that a file holds, and returns all of them. Without a file
 * the rounds are returned as they are. Throws when the file has rounds of other targets: quotients
 * are taken within a round.
 */
export function collect(
  file: string | undefined,
  scenario: string,
  measured: readonly TargetSlices[],
): readonly TargetSlices[] {
  if (file === undefined) return measured;
  const collected = readCollected(file);
  const kept = collected[scenario] ?? measured.map(({ target }) => ({ target, slices: [] }));
  const names = (of: readonly TargetSlices[]) => of.map(({ target }) => target).join(", ");
  if (names(kept) !== names(measured))
    throw new Error(
      `${file} has rounds of ${names(kept)} for ${scenario}, this run of ${names(measured)}. Name another file.`,
    );
  const all = kept.map(({ target, slices }, index) => ({
    target,
    slices: [...slices, ...(measured[index]?.slices ?? [])],
  }));
  writeFileSync(file, JSON.stringify({ ...collected, [scenario]: all }));
  return all;
}

/** What a file holds; nothing when there is none. */
export function readCollected(file: string): Collected {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Collected) : {};
}
