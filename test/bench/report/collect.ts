/** Rounds of several runs, kept in one file, so that a long measurement can be done in parts. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { TargetSlices } from "./tables.ts";

/** The rounds of each scenario. */
export type Collected = Readonly<Record<string, readonly TargetSlices[]>>;

/**
 * Throws when a file has rounds of a scenario with other targets: quotients are taken within a
 * round.
 */
export function checkTargets(
  file: string | undefined,
  scenario: string,
  targets: readonly string[],
): void {
  const kept = file === undefined ? undefined : readCollected(file)[scenario];
  const names = kept?.map(({ target }) => target).join(", ");
  if (names !== undefined && names !== targets.join(", "))
    throw new Error(
      `${file} has rounds of ${names} for ${scenario}, this run of ${targets.join(", ")}. Name another file.`,
    );
}

/**
 * Adds the rounds of a scenario to those that a file holds, and returns all of them. Without a file
 * the rounds are returned as they are.
 */
export function collect(
  file: string | undefined,
  scenario: string,
  measured: readonly TargetSlices[],
): readonly TargetSlices[] {
  if (file === undefined || measured.length === 0) return measured;
  checkTargets(
    file,
    scenario,
    measured.map(({ target }) => target),
  );
  const collected = readCollected(file);
  const all = measured.map(({ target, slices }, index) => ({
    target,
    slices: [...(collected[scenario]?.[index]?.slices ?? []), ...slices],
  }));
  writeFileSync(file, JSON.stringify({ ...collected, [scenario]: all }));
  return all;
}

/** What a file holds; nothing when there is none. */
export function readCollected(file: string): Collected {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Collected) : {};
}
