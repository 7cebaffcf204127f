/** Patterns of models: a target's model, with a `*` in place of the rest of the requested id. */

import type { Model } from "@sluice/contract";

/** Whether a target's model matches this model of the upstream. */
export function isModelOf(pattern: string, model: string): boolean {
  const [before = "", ...rest] = pattern.split("*");
  const after = rest.at(-1);
  if (after === undefined) return pattern === model;
  return (
    model.length >= before.length + after.length &&
    model.startsWith(before) &&
    model.endsWith(after)
  );
}

/**
 * Whether a list names a model: by its id, its entry, a wildcard or an access group. An empty list
 * names all.
 */
export function namesModel(
  list: readonly string[],
  model: Pick<Model, "id" | "entry" | "accessGroups">,
): boolean {
  return list.length === 0 || list.some((name) => isNamed(name, model));
}

function isNamed(
  name: string,
  { id, entry, accessGroups }: Pick<Model, "id" | "entry" | "accessGroups">,
): boolean {
  if (name === id || name === entry || accessGroups.includes(name)) return true;
  return name.endsWith("*") && id.startsWith(name.slice(0, -1));
}
