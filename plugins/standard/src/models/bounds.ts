/** Which targets a key with a list of models may use. */

import type { Authority, Identity, Model, ModelCatalog, Target } from "@sluice/contract";

/** The key's models. */
export interface ModelRules {
  readonly authority: Authority;
  readonly models: ModelCatalog;
}

/** Whether a key that is limited to models may use a target. */
export function mayUseTarget(identity: Identity, target: Target, rules: ModelRules): boolean {
  const candidates = [
    directModel(target, rules.models),
    ...rules.models.list().filter(({ targets }) => targets.some(({ id }) => id === target.id)),
  ];
  return candidates.some((model) => rules.authority.mayUse(identity, model));
}

/**
 * The model that lists and limits name as `provider/model`. One that is not in the catalogue has
 * all models of its provider as its entry: clients name any number of them.
 */
export function directModel(target: Target, models: ModelCatalog): Model {
  const { id, provider } = target;
  return (
    models.find(id) ?? {
      id,
      entry: `${provider}/*`,
      mode: "chat",
      targets: [target],
      accessGroups: [],
      ownedBy: provider,
    }
  );
}

/** Whether the key, or something that it belongs to, has a model list. */
export function isLimited({ kind, models, modelBounds }: Identity): boolean {
  return kind !== "master" && (models.length > 0 || modelBounds !== undefined);
}
