/** Which models an identity sees. */

import { pricedAs } from "@sluice/runtime";
import type { Authority, Host, Identity, Model, Target } from "@sluice/contract";
import { namedModel } from "./alias.ts";
import { servableModel } from "./servable.ts";

/** A group of models that a key may name, and the owner of its first model. */
export interface AccessGroup {
  readonly name: string;
  readonly ownedBy: string;
}

/** The models of a generation, seen by identities. */
export interface ModelView {
  /**
   * Models that a request may name, each once: entries in the order of the file, wildcards as the
   * known models that they match, then aliases of the key and its team under their own names.
   */
  models(viewer: Identity): readonly Model[];
  /** Wildcards as they are written. */
  wildcards(viewer: Identity): readonly Model[];
  /** The groups whose models, all of them, the identity may use. */
  groups(viewer: Identity): readonly AccessGroup[];
  /**
   * The model of an id; `undefined` if it is unknown, cannot be served, or is forbidden to the
   * identity.
   */
  find(viewer: Identity, id: string): Model | undefined;
  /**
   * The model that a request with this name gets: as `find`, with the aliases of the key and its
   * team.
   */
  named(viewer: Identity, name: string): Model | undefined;
}

/** The view of a host's catalogue. Known models are looked up once, at the first question. */
export function createModelView(host: Host): ModelView {
  const { models: catalog, authority } = host;
  const listed = catalog.list();
  let expanded: readonly Model[] | undefined;
  const sees = (viewer: Identity) => (model: Model) =>
    servableModel(viewer, model, host) !== undefined;
  const find = (viewer: Identity, id: string): Model | undefined => {
    const model = catalog.find(id);
    return model !== undefined && sees(viewer)(model) ? model : undefined;
  };
  const named = (viewer: Identity, name: string): Model | undefined => {
    const id = namedModel(viewer, name);
    const model = find(viewer, id);
    return model === undefined || id === name ? model : { ...model, id: name };
  };
  return {
    models(viewer) {
      expanded ??= listed.flatMap((entry) =>
        isWildcard(entry.id) ? knownModels(entry, host) : [entry],
      );
      // A key may name a model that only a wildcard serves.
      const own = [viewer.models, ...(viewer.modelBounds ?? [])]
        .flat()
        .flatMap((id) => (isWildcard(id) ? [] : (find(viewer, id) ?? [])));
      const models = unique([...expanded.filter(sees(viewer)), ...own]);
      const { modelAliases } = viewer;
      if (modelAliases === undefined) return models;
      // An alias wins over a model of that id, also where its model is not for the key.
      const aliased = Object.keys(modelAliases).flatMap((name) => named(viewer, name) ?? []);
      return [...models.filter(({ id }) => !Object.hasOwn(modelAliases, id)), ...aliased];
    },
    wildcards: (viewer) => listed.filter(({ id }) => isWildcard(id)).filter(sees(viewer)),
    groups: (viewer) => groupsOf(listed, viewer, authority),
    find,
    named,
  };
}

function isWildcard(id: string): boolean {
  return id.endsWith("*");
}

/**
 * The known models that a wildcard serves, without those that a longer wildcard or an entry serves.
 */
function knownModels(entry: Model, host: Host): readonly Model[] {
  const prefix = entry.id.slice(0, -1);
  return entry.targets
    .flatMap((target) => namesAt(target, entry, host))
    .flatMap((rest) => host.models.find(`${prefix}${rest}`) ?? [])
    .filter((model) => model.entry === entry.entry && model.id !== entry.id);
}

/** The replacement of `*` in a target's model, for each known name of its provider. */
function namesAt({ provider, model }: Target, { mode }: Model, host: Host): readonly string[] {
  const instance = host.providers.find(provider);
  const [before, after, ...more] = model.split("*");
  if (instance === undefined || before === undefined || after === undefined || more.length > 0)
    return [];
  return host.directory
    .list(pricedAs(instance))
    .filter((known) => known.mode === mode)
    .map(({ name }) => name)
    .filter(
      (name) =>
        name.length > before.length + after.length &&
        name.startsWith(before) &&
        name.endsWith(after),
    )
    .map((name) => name.slice(before.length, name.length - after.length));
}

function groupsOf(
  listed: readonly Model[],
  viewer: Identity,
  authority: Authority,
): readonly AccessGroup[] {
  const members = new Map<string, Model[]>();
  for (const model of listed)
    for (const name of model.accessGroups) members.set(name, [...(members.get(name) ?? []), model]);
  return [...members]
    .filter(([, models]) => models.every((model) => authority.mayUse(viewer, model)))
    .map(([name, models]) => ({ name, ownedBy: models[0]?.ownedBy ?? "" }));
}

function unique(models: readonly Model[]): readonly Model[] {
  return [...new Map(models.map((model) => [model.id, model])).values()];
}
