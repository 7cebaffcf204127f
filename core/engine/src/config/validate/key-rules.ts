/** Rules of `keys:` and `teams:` that a schema cannot express. */

import { duplicates, listOf, sectionOf, textOf } from "./entries.ts";
import { nameFix, type Fault } from "./explain.ts";
import { formatPath, valueAtPath } from "../files/path.ts";

/** Limits that have two words. */
const TWO_WORDS = [
  ["rpm", "rpm_limit"],
  ["tpm", "tpm_limit"],
  ["max_parallel_requests", "max_parallel"],
] as const;

/** The names that entries may refer to. */
interface Known {
  readonly ids: readonly string[];
  /** Ids of models and access groups. */
  readonly names: readonly string[];
  readonly guardrails: readonly string[];
}

/** The faults of declared keys and teams. */
export function keyFaults(gateway: unknown): Fault[] {
  const models = listOf(gateway, "models");
  const ids = models.map((model) => textOf(model, "id")).filter((id) => id !== undefined);
  const groups = models
    .flatMap((model) => listOf(model, "access_groups"))
    .filter((group) => typeof group === "string");
  const guardrails = Object.keys(sectionOf(gateway, "guardrails"));
  const known: Known = { ids, names: [...new Set([...ids, ...groups])], guardrails };
  return [
    ...duplicates(gateway, "keys", "alias"),
    ...duplicates(gateway, "teams", "team_id"),
    ...similarTeams(gateway),
    ...misspeltTeams(gateway),
    ...(["keys", "teams"] as const).flatMap((list) =>
      listOf(gateway, list).flatMap((entry, index) => entryFaults(entry, [list, index], known)),
    ),
  ];
}

type Path = readonly (string | number)[];

function entryFaults(entry: unknown, at: Path, known: Known): Fault[] {
  return [
    ...limitFaults(entry, at),
    ...guardrailFaults(entry, at, known),
    ...modelFaults(entry, at, known),
  ];
}

function limitFaults(entry: unknown, at: Path): Fault[] {
  const faults: Fault[] = [];
  const [max, soft] = ["max_budget", "soft_budget"].map((name) => valueAtPath(entry, [name]));
  if (typeof max === "number" && typeof soft === "number" && soft > max) {
    const path = [...at, "soft_budget"];
    const message = `\`${formatPath(path)}\` exceeds \`max_budget\`: the warning would never appear`;
    faults.push({ path, on: "value", message, fix: "write less than `max_budget`" });
  }
  for (const [word, other] of TWO_WORDS) {
    if (valueAtPath(entry, [word]) === undefined || valueAtPath(entry, [other]) === undefined)
      continue;
    const path = [...at, other];
    const message = `\`${formatPath(path)}\` is an alias of \`${word}\`, which is also there`;
    faults.push({ path, on: "key", message, fix: `keep \`${word}\`` });
  }
  return faults;
}

function guardrailFaults(entry: unknown, at: Path, { guardrails }: Known): Fault[] {
  return listOf(entry, "guardrails").flatMap((name, place): Fault[] => {
    if (typeof name !== "string" || guardrails.includes(name)) return [];
    const path = [...at, "guardrails", place];
    const message = `\`${formatPath(path)}\` names "${name}", which is not under \`guardrails\``;
    const fix = nameFix(name, guardrails, "add it to `guardrails`");
    return [{ path, on: "value", message, fix }];
  });
}

function modelFaults(entry: unknown, at: Path, { ids, names }: Known): Fault[] {
  return listOf(entry, "models").flatMap((name, place): Fault[] => {
    if (typeof name !== "string" || names.includes(name) || name.endsWith("*")) return [];
    if (ids.some((id) => id.endsWith("*") && name.startsWith(id.slice(0, -1)))) return [];
    const path = [...at, "models", place];
    const message = `\`${formatPath(path)}\` names "${name}", which is neither a model nor an access group`;
    return [{ path, on: "value", message, fix: nameFix(name, names, "add it to `models`") }];
  });
}

/** Two ids that a reader cannot tell apart: they differ in case, width or outer blanks alone. */
function similarTeams(gateway: unknown): Fault[] {
  const first = new Map<string, { readonly id: string; readonly index: number }>();
  return listOf(gateway, "teams").flatMap((team, index): Fault[] => {
    const id = textOf(team, "team_id");
    if (id === undefined) return [];
    const folded = foldedOf(id);
    const earlier = first.get(folded);
    if (earlier === undefined) first.set(folded, { id, index });
    if (earlier === undefined || earlier.id === id) return [];
    const path = ["teams", index, "team_id"];
    const message = `\`${formatPath(path)}\` is "${id}", which differs from \`${formatPath(["teams", earlier.index])}\` in case, width or blanks alone`;
    return [{ path, on: "value", message, fix: "rename one of the two" }];
  });
}

/** A key whose team differs from a declared one like that alone would have no limits of a team. */
function misspeltTeams(gateway: unknown): Fault[] {
  const ids = listOf(gateway, "teams").flatMap((team) => textOf(team, "team_id") ?? []);
  return listOf(gateway, "keys").flatMap((key, index): Fault[] => {
    const named = textOf(key, "team_id");
    if (named === undefined || ids.includes(named)) return [];
    const meant = ids.find((id) => foldedOf(id) === foldedOf(named));
    if (meant === undefined) return [];
    const path = ["keys", index, "team_id"];
    const message = `\`${formatPath(path)}\` is "${named}", which differs from the team "${meant}" in case, width or blanks alone`;
    return [{ path, on: "value", message, fix: `write "${meant}"` }];
  });
}

function foldedOf(id: string): string {
  return id.normalize("NFKC").trim().toLowerCase();
}
