/**
 * Teams and keys that the conditions of steps name: one that does not exist makes a step apply to
 * no request.
 */

import type { Finding } from "../../config/finding.ts";
import type { Position, Snapshot } from "../../config/snapshot.ts";

/** A name in a `when:` that the files do not have. */
export interface ConditionName {
  readonly kind: "team" | "key";
  /** As written; a final `*` matches any rest. */
  readonly pattern: string;
  readonly use: string;
  readonly pipeline: string;
  readonly at: Position;
}

/**
 * Whether a team of an id, or a key of an alias or id, exists beside the files; a pattern asks for
 * one that it matches.
 */
export type HasName = (name: ConditionName) => Promise<boolean>;

/** The names of teams and keys in conditions that the files do not declare. */
export function namesOutsideFiles({ pipelines, keys, teams }: Snapshot): readonly ConditionName[] {
  const declared = {
    team: [...keys.flatMap(({ teamId }) => teamId ?? []), ...teams.map(({ id }) => id)],
    key: keys.flatMap(({ alias }) => [alias, `yaml:${alias}`]),
  };
  return pipelines.flatMap(({ name: pipeline, steps }) =>
    steps.flatMap(({ use, when, at }) =>
      (["team", "key"] as const).flatMap((kind) =>
        (when?.[kind] ?? [])
          .filter((pattern) => !declared[kind].some((name) => matchesName(pattern, name)))
          .map((pattern) => ({ kind, pattern, use, pipeline, at })),
      ),
    ),
  );
}

/** A warning for each name that does not exist at all. */
export async function unknownNames(snapshot: Snapshot, has: HasName): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for (const name of namesOutsideFiles(snapshot))
    if (!(await has(name))) found.push(warningOf(name));
  return found;
}

/** Whether a name matches a pattern. */
export function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function warningOf({ kind, pattern, use, pipeline, at }: ConditionName): Finding {
  const shown = JSON.stringify(pattern);
  const what = kind === "team" ? `the team ${shown}` : `the key ${shown}`;
  return {
    at,
    message: `Step ${use} of pipeline ${pipeline} has the condition ${what}, which exists neither in the files nor in the store: it applies to no request.`,
    fix: `Correct the name, or make it with \`sluice ${kind}s create\`.`,
  };
}
