/**
 * Names of models as rows have them. A row has the model that was asked for and the entry of the
 * file. A native one has the upstream's name of the model.
 */

import type { Model } from "@sluice/contract";
import { namesModel } from "@sluice/runtime";

/**
 * The names by which rows are found of the models that a limit names: the names themselves, the
 * entries that they cover, and parts of wildcards, as the upstream names them. All models of a
 * provider are such a wildcard where none has them as a target.
 */
export function modelsInRows(
  names: readonly string[],
  models: readonly Model[],
): readonly string[] {
  const found = new Set(names);
  for (const name of names) {
    const slash = name.indexOf("/");
    if (slash > 0 && slash < name.length - 1)
      found.add(partOf(`${name.slice(0, slash)}/*`, name.slice(slash + 1)));
  }
  for (const model of models) {
    if (namesModel(names, model)) found.add(model.entry);
    else for (const part of partsOf(names, model)) found.add(part);
  }
  return [...found];
}

/** The rows of a native model below an entry. With a `*`, the beginning of its name. */
function partOf(entry: string, upstream: string): string {
  return `${entry}\n${upstream}`;
}

/** The parts of a wildcard that names have. */
function partsOf(names: readonly string[], { id, entry, targets }: Model): string[] {
  const star = id.indexOf("*");
  if (star < 0) return [];
  const [before, behind] = [id.slice(0, star), id.slice(star + 1)];
  const upstreams = targets.flatMap(({ model }) => (model.includes("*") ? [model] : []));
  return names.flatMap((name) => {
    const isOpen = name.endsWith("*");
    const end = isOpen ? name.length - 1 : name.length - behind.length;
    if (end <= star || !name.startsWith(before) || (!isOpen && !name.endsWith(behind))) return [];
    const part = name.slice(star, end);
    return upstreams.map((upstream) => {
      const [first = "", ...rest] = upstream.split("*");
      return partOf(entry, first + part + (isOpen ? "*" : rest.join("*")));
    });
  });
}
