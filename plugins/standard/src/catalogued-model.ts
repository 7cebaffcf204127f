/** The model of a target that a request names by itself, as a native request does. */

import type { Model, ModelCatalog, Target } from "@sluice/spec";

/** The catalogue's model of a target; `undefined` where it has none. */
export function cataloguedModel({ id }: Target, models: ModelCatalog): Model | undefined {
  return models.find(id) ?? models.list().find(({ targets }) => targets.some((target) => target.id === id));
}
