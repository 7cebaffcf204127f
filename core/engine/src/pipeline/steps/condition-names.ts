/**
 * Teams and keys that the conditions of steps name, and teams of declared keys. One that does not
 * exist makes a step apply to no request, and has no limits for the key.
 */

import type { Finding } from "../../config/finding.ts";
import type { Position, Snapshot } from "../../config/snapshot.ts";

/** A name in a `when:`, or of the team of a declared key, that the files do not have. */
export interface OutsideName {
  readonly kind: "team" | "key";
  /** As written; a final `*` matches any rest. */
  readonly pattern: string;
  /** Where it stands, as a warning begins, and what follows from a name that does not exist. */
  readonly place: string;
  readonly effect: string;
  readonly at: Position;
}

/**
 * Whether a team of an id, or a key of an alias or id, exists beside the files; a pattern asks for
 * one that it matches.
 */
export type HasName = (name: OutsideName) => Promise<boolean>;

/** The names of teams and keys that the files use and do not declare. */
export function namesOutsideFiles(snapshot: Snapshot): readonly OutsideName[] {
  return [...teamsOfKeys(snapshot), ...namesInConditions(snapshot)];
}

function teamsOfKeys({ keys, teams }: Snapshot): readonly OutsideName[] {
  const declared = new Set(teams.map(({ id }) => id));
  return keys.flatMap(({ alias, teamId, at }) =>
    teamId === undefined || declared.has(teamId)
      ? []
      : {
          kind: "team" as const,
          pattern: teamId,
          place: `The key ${alias} belongs to`,
          effect: "no limit of a team holds for it",
          at,
        },
  );
}

function namesInConditions({ pipelines, keys, teams }: Snapshot): readonly OutsideName[] {
  const declared = {
    team: [...keys.flatMap(({ teamId }) => teamId ?? []), ...teams.map(({ id }) => id)],
    key: keys.flatMap(({ alias }) => [alias, `yaml:${alias}`]),
  };
  return pipelines.flatMap(({ name: pipeline, steps }) =>
    steps.flatMap(({ use, when, at }) =>
      (["team", "key"] as const).flatMap((kind) =>
        (when?.[kind] ?? [])
          .filter((pattern) => !declared[kind].some((name) => matchesName(pattern, name)))
          .map((pattern) => ({
            kind,
            pattern,
            place: `Step ${use} of pipeline ${pipeline} has the condition`,
            effect: "it applies to no request",
            at,
          })),
      ),
    ),
  );
}

/** A warning for each name that does not exist at all. */
export async function unknownNames(snapshot: Snapshot, has: HasName): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const asked = new Map<string, boolean>();
  for (const name of namesOutsideFiles(snapshot)) {
    const key = `${name.kind} ${name.pattern}`;
    // oxlint-disable-next-line no-await-in-loop -- a name is asked for once.
    const isThere = asked.get(key) ?? (await has(name));
    asked.set(key, isThere);
    if (!isThere) found.push(warningOf(name));
  }
  return found;
}

/** Whether a name matches a pattern. */
export function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function warningOf({ kind, pattern, place, effect, at }: OutsideName): Finding {
  return {
    at,
    message: `${place} the ${kind} ${JSON.stringify(pattern)}, which exists neither in the files nor in the store: ${effect}.`,
    fix: `Correct the name, or make it with \`sluice ${kind}s create\`.`,
  };
}
