/** Fallbacks: three lists of one-key objects become the `fallbacks` of each model. */

import type { ImportedModel } from "./models.ts";
import { type ImportSource, itemsOf, membersOf, type SourcePath } from "./source.ts";

const SECTIONS = ["litellm_settings", "router_settings"] as const;

interface Chain {
  readonly models: readonly string[];
  readonly path: SourcePath;
}

/** Writes the chains into the models. */
export function importFallbacks(source: ImportSource, models: readonly ImportedModel[]): void {
  const general = chainsOf(source, "fallbacks");
  const preset = defaultsOf(source) ?? general.get("*");
  const contextWindow = chainsOf(source, "context_window_fallbacks");
  const contentPolicy = chainsOf(source, "content_policy_fallbacks");
  const withoutUnknown = (chain: Chain, { id, mode }: ImportedModel): readonly string[] =>
    chain.models.filter((name) => {
      if (name === id) return false;
      const standIn = name.endsWith("*") ? undefined : modelOf(name, models);
      if (standIn === undefined)
        source.note("missing", chain.path, `the fallback ${name} is no model of the list`);
      else if (standIn.mode !== mode && chain !== preset) {
        const why = `the fallback ${name} is for the mode ${standIn.mode}, and ${id} for ${mode}: it could answer nothing`;
        source.note("changed", chain.path, why);
      }
      return standIn?.mode === mode;
    });
  for (const chains of [general, contextWindow, contentPolicy]) {
    for (const [name, { path }] of chains) {
      if (name !== "*" && !models.some(({ id }) => id === name))
        source.note("missing", path, `${name} is no model of the list`);
    }
  }
  for (const model of models) {
    const own = general.get(model.id) ?? general.get(model.id.replace(/^[^/]+\//, "")) ?? preset;
    const chain = own === undefined ? [] : withoutUnknown(own, model);
    const of = (chains: ReadonlyMap<string, Chain>): readonly string[] => {
      // Where no model has such a list, these failures take the general one.
      if (chains.size === 0) return chain;
      const named = chains.get(model.id);
      return named === undefined ? [] : withoutUnknown(named, model);
    };
    const fallbacks = {
      general: chain,
      context_window: of(contextWindow),
      content_policy: of(contentPolicy),
    };
    const named = Object.entries(fallbacks).filter(([, names]) => names.length > 0);
    if (named.length > 0) model.fallbacks = Object.fromEntries(named);
  }
}

/** The model that serves an id: its own, else the wildcard with the longest beginning. */
function modelOf(name: string, models: readonly ImportedModel[]): ImportedModel | undefined {
  const wildcards = models.filter(
    ({ id }) => id.endsWith("*") && name.length >= id.length && name.startsWith(id.slice(0, -1)),
  );
  return (
    models.find(({ id }) => id === name) ??
    wildcards.toSorted((one, other) => other.id.length - one.id.length)[0]
  );
}

function chainsOf(source: ImportSource, member: string): ReadonlyMap<string, Chain> {
  const chains = new Map<string, Chain>();
  for (const section of SECTIONS) {
    itemsOf(membersOf(source.value[section])[member]).forEach((entry, index) => {
      // Of each object only the first key counts.
      const [first] = Object.entries(membersOf(entry));
      if (first === undefined) return;
      const path = [section, member, index];
      chains.set(first[0], { models: textsOf(first[1]), path });
    });
  }
  return chains;
}

function defaultsOf({ value }: ImportSource): Chain | undefined {
  for (const section of SECTIONS) {
    const models = textsOf(membersOf(value[section])["default_fallbacks"]);
    if (models.length > 0) return { models, path: [section, "default_fallbacks"] };
  }
  return undefined;
}

function textsOf(value: unknown): readonly string[] {
  return itemsOf(value).filter((item) => typeof item === "string");
}
