/** Rules of keys and tenants that a schema cannot express. */

import { duplicates, listOf, sectionOf, textOf } from "../entries.ts";
import { nameFix, type Fault } from "../explain.ts";
import { limitFaults } from "./limit-rules.ts";
import { blockEntries, tenantFaults } from "./tenant-rules.ts";
import { formatPath } from "../../files/path.ts";

/** The names that entries may refer to. */
interface Known {
  readonly ids: readonly string[];
  /** Ids of models and access groups; `undefined` where some of them are unknown. */
  readonly names: readonly string[] | undefined;
  readonly guardrails: readonly string[];
}

/** The faults of declared keys and tenants. */
export function keyFaults(gateway: unknown): Fault[] {
  const models = listOf(gateway, "models");
  const ids = models.map((model) => textOf(model, "id")).filter((id) => id !== undefined);
  const declared = listOf(gateway, "access_groups").map((group) => textOf(group, "access_group"));
  const groups = [...models.flatMap((model) => listOf(model, "access_groups")), ...declared].filter(
    (group) => typeof group === "string",
  );
  const guardrails = Object.keys(sectionOf(gateway, "guardrails"));
  // A model without its id, or a section that is no list, has its own finding.
  const areKnown = models.length > 0 && ids.length === models.length;
  const names = areKnown ? [...new Set([...ids, ...groups])] : undefined;
  const known: Known = { ids, names, guardrails };
  return [
    ...duplicates(gateway, "keys", "alias"),
    ...tenantFaults(gateway),
    ...blockEntries(gateway).flatMap(({ entry, at }) => entryFaults(entry, at, known)),
    ...listOf(gateway, "access_groups").flatMap((group, index) =>
      modelFaults(group, ["access_groups", index], { ...known, names: ids }),
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
  if (names === undefined) return [];
  return listOf(entry, "models").flatMap((name, place): Fault[] => {
    if (typeof name !== "string" || names.includes(name) || name.endsWith("*")) return [];
    if (ids.some((id) => id.endsWith("*") && name.startsWith(id.slice(0, -1)))) return [];
    const path = [...at, "models", place];
    const message = `\`${formatPath(path)}\` names "${name}", which is neither a model nor an access group`;
    return [{ path, on: "value", message, fix: nameFix(name, names, "add it to `models`") }];
  });
}
