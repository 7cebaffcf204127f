/**
 * The configured targets that native requests reach: a target's own price and its forwarded members
 * hold at its native address too.
 */

import type { Identity, Model, ModelCatalog, Target } from "@sluice/contract";
import type { ModelRules } from "./access.ts";

/** Finds the configured target of a native request. */
export interface ConfiguredTargets {
  /**
   * A target of this id, by these rules: one with a price before one without; one of a model that
   * the key may use before another; an exact model name before a wildcard; then the order of the
   * file. `undefined`: no model has the target.
   */
  find(identity: Identity, id: string): Target | undefined;
}

interface Candidate {
  readonly model: Model;
  readonly target: Target;
}

/** The configured targets of a catalogue. The index is made at the first question. */
export function createConfiguredTargets({ authority, models }: ModelRules): ConfiguredTargets {
  let index: TargetIndex | undefined;
  return {
    find(identity, id) {
      index ??= indexOf(models);
      const candidates = [
        ...(index.exact.get(id) ?? []),
        ...index.wildcards.filter(({ target }) => matches(target.id, id)),
      ];
      const usable = candidates.filter(
        ({ model }) => identity.kind === "master" || authority.mayUse(identity, model),
      );
      const ordered = [...usable, ...candidates];
      return (ordered.find(({ target }) => target.price !== undefined) ?? ordered[0])?.target;
    },
  };
}

interface TargetIndex {
  readonly exact: ReadonlyMap<string, readonly Candidate[]>;
  readonly wildcards: readonly Candidate[];
}

function indexOf(models: ModelCatalog): TargetIndex {
  const exact = new Map<string, Candidate[]>();
  const wildcards: Candidate[] = [];
  for (const model of models.list()) {
    for (const target of model.targets) {
      const candidate = { model, target };
      if (target.id.includes("*")) wildcards.push(candidate);
      else exact.set(target.id, [...(exact.get(target.id) ?? []), candidate]);
    }
  }
  return { exact, wildcards };
}

/**
 * Whether an id is one of a target with a `*`: what stands before and behind the first one is
 * compared.
 */
function matches(pattern: string, id: string): boolean {
  const star = pattern.indexOf("*");
  const [before, behind] = [pattern.slice(0, star), pattern.slice(pattern.lastIndexOf("*") + 1)];
  return id.length > before.length + behind.length && id.startsWith(before) && id.endsWith(behind);
}
