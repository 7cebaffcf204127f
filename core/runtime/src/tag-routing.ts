/** Tag routing: the targets that a request may have by its tags. */

import { type Model, OWN_TAG, type TagRouting, type Target } from "@sluice/contract";

/** The tag of targets for requests without a matching tag. */
const DEFAULT_TAG = "default";

/** Whether a target is among those of a request, by the target's tags. */
export type TargetFilter = (tags: readonly string[] | undefined) => boolean;

/**
 * The targets of a request with these tags: those that match; else those tagged `default`; else
 * all, for a request without tags. `undefined`: none, the model is not for these tags. Tags of
 * pooled budgets do not count.
 */
export function targetFilter(
  { match, configured }: TagRouting,
  tags: readonly string[],
): TargetFilter | undefined {
  const named = tags.filter((tag) => !tag.startsWith(OWN_TAG));
  if (named.length > 0) {
    const matches: TargetFilter = (own) =>
      own !== undefined &&
      (match === "any"
        ? named.some((tag) => own.includes(tag))
        : named.every((tag) => own.includes(tag)));
    if (configured.some(matches)) return matches;
  }
  const isDefault: TargetFilter = (own) => own?.includes(DEFAULT_TAG) === true;
  if (configured.some(isDefault)) return isDefault;
  return named.length > 0 ? undefined : () => true;
}

/** What a request and its key say about routing. */
export interface Tagged {
  readonly identity?: { readonly tags: readonly string[] } | undefined;
  readonly request?: { readonly tags: readonly string[] } | undefined;
}

/**
 * A model with the targets that a request may have by its tags: the model itself where no target is
 * left out, `undefined` where the model is not for these tags.
 */
export function routedModel(model: Model, tagged: Tagged): Model | undefined {
  const { tagRouting } = model;
  if (tagRouting === undefined) return model;
  const filter = targetFilter(tagRouting, tagsOf(tagged));
  if (filter === undefined) return undefined;
  const targets = model.targets.filter(({ tags }) => filter(tags));
  return targets.length === model.targets.length ? model : { ...model, targets };
}

/** Whether a request may have a target of a model by its tags. */
export function mayHaveTarget(
  { tagRouting }: Model,
  { tags }: Pick<Target, "tags">,
  tagged: Tagged,
): boolean {
  return tagRouting === undefined || targetFilter(tagRouting, tagsOf(tagged))?.(tags) === true;
}

/** The targets of a model that a request may not have by its tags. */
export function leftOutByTags(model: Model, routed: Model | undefined): readonly Target[] {
  return model.targets.filter((target) => routed?.targets.includes(target) !== true);
}

function tagsOf({ identity, request }: Tagged): readonly string[] {
  return [...(identity?.tags ?? []), ...(request?.tags ?? [])];
}
