/**
 * The configured targets that native requests and tools name: a target's own price, its forwarded
 * members and what closes its model hold there too.
 */

import type { Exchange, Identity, Model, ModelCatalog, Target } from "@sluice/contract";
import { mayHaveTarget } from "@sluice/runtime";
import { isLimited, type ModelRules } from "./bounds.ts";

/** A target, and the model that has it: of a wildcard, the model of this target. */
export interface ConfiguredTarget {
  readonly model: Model;
  readonly target: Target;
}

/** Finds the configured target of a native request. */
export interface ConfiguredTargets {
  /**
   * A target of this id, by these rules: one with a price before one without; one of a model that
   * the key may use before another; an exact model name before a wildcard; then the order of the
   * file. `undefined`: no model has the target.
   */
  find(identity: Identity, id: string): ConfiguredTarget | undefined;
  /** Whether a target of any model has tags. */
  readonly areTagged: boolean;
  /**
   * Whether the tags of a request leave the target out, in every model of its that the key may use.
   */
  isLeftOut(exchange: Exchange, id: string): boolean;
  /** Whether a model is for keys alone whose list names it. */
  readonly areReserved: boolean;
  /**
   * Whether a key without a list may use none of the models that have the target: each is for keys
   * that name it.
   */
  isReserved(identity: Identity, id: string): boolean;
}

/** The configured targets of a catalogue. The index is made at the first question. */
export function createConfiguredTargets({ authority, models }: ModelRules): ConfiguredTargets {
  let index: TargetIndex | undefined;
  const areTagged = models.list().some(({ tagRouting }) => tagRouting !== undefined);
  const areReserved = models.list().some(({ onlyNamed }) => onlyNamed === true);
  const candidatesOf = (id: string): readonly ConfiguredTarget[] => {
    index ??= indexOf(models);
    return [
      ...(index.exact.get(id) ?? index.folded.get(folded(id)) ?? []),
      ...index.wildcards.filter(({ target }) => matches(target.id, id)),
    ];
  };
  const usableOf = (
    identity: Identity,
    candidates: readonly ConfiguredTarget[],
  ): readonly ConfiguredTarget[] =>
    candidates.filter(
      ({ model }) => identity.kind === "master" || authority.mayUse(identity, model),
    );
  return {
    areTagged,
    areReserved,
    find(identity, id) {
      const candidates = candidatesOf(id);
      const ordered = [...usableOf(identity, candidates), ...candidates];
      const found = ordered.find(({ target }) => target.price !== undefined) ?? ordered[0];
      return found && { ...found, model: modelAt(found, id, models) };
    },
    isLeftOut(exchange, id) {
      const { identity } = exchange;
      if (!areTagged || identity === undefined) return false;
      const candidates = candidatesOf(id);
      const usable = usableOf(identity, candidates);
      const counted = usable.length > 0 ? usable : candidates;
      return (
        counted.length > 0 &&
        counted.every(({ model, target }) => !mayHaveTarget(model, target, exchange))
      );
    },
    isReserved(identity, id) {
      if (!areReserved || isLimited(identity)) return false;
      const candidates = candidatesOf(id);
      return candidates.length > 0 && usableOf(identity, candidates).length === 0;
    },
  };
}

/** The model of a candidate for a target's id: one below a wildcard has its part of the id. */
function modelAt({ model, target }: ConfiguredTarget, id: string, models: ModelCatalog): Model {
  const star = target.id.indexOf("*");
  if (star < 0 || !model.id.includes("*")) return model;
  const part = id.slice(star, id.length - (target.id.length - star - 1));
  return models.find(model.id.replace("*", () => part)) ?? model;
}

interface TargetIndex {
  readonly exact: ReadonlyMap<string, readonly ConfiguredTarget[]>;
  /** The same by folded ids. */
  readonly folded: ReadonlyMap<string, readonly ConfiguredTarget[]>;
  readonly wildcards: readonly ConfiguredTarget[];
}

function indexOf(models: ModelCatalog): TargetIndex {
  const exact = new Map<string, ConfiguredTarget[]>();
  const alike = new Map<string, ConfiguredTarget[]>();
  const wildcards: ConfiguredTarget[] = [];
  for (const model of models.list()) {
    for (const target of model.targets) {
      const candidate = { model, target };
      if (target.id.includes("*")) {
        wildcards.push(candidate);
        continue;
      }
      const other = folded(target.id);
      exact.set(target.id, [...(exact.get(target.id) ?? []), candidate]);
      alike.set(other, [...(alike.get(other) ?? []), candidate]);
    }
  }
  return { exact, folded: alike, wildcards };
}

/**
 * An id as upstreams compare the names of models that they take in several spellings: in any case
 * (Azure, Ollama), behind Google's collection, with the tag that Ollama adds.
 */
function folded(id: string): string {
  return id
    .trim()
    .toLowerCase()
    .replace(/^([^/]*\/)models\//, "$1")
    .replace(/:latest$/, "");
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
