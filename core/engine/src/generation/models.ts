/** The models of a generation: exact ids first, then the longest wildcard. */

import type { Model, ModelCatalog, Target } from "@sluice/contract";
import { withTools } from "../config/prices/seed.ts";
import type {
  ModelSettings,
  ProviderSettings,
  Snapshot,
  TargetSettings,
} from "../config/snapshot.ts";

/**
 * The catalogue of a snapshot. Targets of unavailable providers are left out; a model without a
 * target stays findable.
 */
export function createCatalog(snapshot: Snapshot): ModelCatalog {
  const providers = new Map(snapshot.providers.map((provider) => [provider.name, provider]));
  const models = snapshot.models.map((settings) => modelOf(settings, providers));
  const exact = new Map(
    models.filter(({ id }) => !isWildcard(id)).map((model) => [model.id, model]),
  );
  const wildcards = models
    .filter(({ id }) => isWildcard(id))
    .sort((a, b) => b.id.length - a.id.length);
  const find = (id: string): Model | undefined => exact.get(id) ?? matchWildcard(wildcards, id);
  const hasTarget = (model: Model | undefined): boolean =>
    model !== undefined && model.targets.length > 0;
  const listed = models.filter(
    (model) => hasTarget(model) || model.fallbacks?.general?.some((id) => hasTarget(find(id))),
  );
  return { find, list: () => listed };
}

/** Whether a configured id is a wildcard. */
export function isWildcard(id: string): boolean {
  return id.endsWith("*");
}

function modelOf(settings: ModelSettings, providers: ReadonlyMap<string, ProviderSettings>): Model {
  const targets = settings.targets
    .filter(({ provider }) => providers.get(provider)?.missing.length === 0)
    .map((target) => targetOf({ ...target, ...priceWithTools(target, providers) }, target.model));
  return Object.freeze({
    id: settings.id,
    entry: settings.id,
    mode: settings.mode,
    targets: Object.freeze(targets),
    ...(settings.balance === undefined ? {} : { balance: settings.balance }),
    accessGroups: settings.accessGroups,
    ...(settings.onlyNamed === true ? { onlyNamed: true } : {}),
    ownedBy: settings.targets[0]?.provider ?? "",
    ...(settings.fallbacks === undefined ? {} : { fallbacks: settings.fallbacks }),
    ...(settings.info === undefined ? {} : { info: settings.info }),
    ...tagRoutingOf(settings),
  });
}

/** The tag routing of a model; empty where no target has tags. */
export function tagRoutingOf({
  matchTags: match,
  targets,
}: ModelSettings): Pick<Model, "tagRouting"> {
  if (match === undefined) return {};
  return { tagRouting: { match, configured: targets.map(({ tags = NO_TAGS }) => tags) } };
}

const NO_TAGS: readonly string[] = Object.freeze([]);

/** A price that names no tool has the built-in prices of tools. */
function priceWithTools(
  { provider, model, price }: TargetSettings,
  providers: ReadonlyMap<string, ProviderSettings>,
): Pick<Target, "price"> {
  const priced = withTools(price, providers.get(provider)?.use ?? provider, model);
  return priced === undefined ? {} : { price: priced };
}

function targetOf(settings: Omit<TargetSettings, "at" | "model">, model: string): Target {
  const {
    provider,
    price,
    dropParams,
    forwardMetadata,
    forward,
    weight,
    priority,
    maxParallel,
    queue,
    queueTimeoutMs,
  } = settings;
  const { rpm, tpm, tags } = settings;
  return Object.freeze({
    id: `${provider}/${model}`,
    provider,
    model,
    ...(price === undefined ? {} : { price }),
    ...(dropParams === true ? { dropParams } : {}),
    ...(forwardMetadata === true ? { forwardMetadata } : {}),
    ...(forward === undefined ? {} : { forward }),
    ...(weight === undefined ? {} : { weight }),
    ...(priority === undefined ? {} : { priority }),
    ...(maxParallel === undefined ? {} : { maxParallel }),
    ...(queue === undefined ? {} : { queue }),
    ...(queueTimeoutMs === undefined ? {} : { queueTimeoutMs }),
    ...(rpm === undefined ? {} : { rpm }),
    ...(tpm === undefined ? {} : { tpm }),
    ...(tags === undefined ? {} : { tags }),
  });
}

function matchWildcard(wildcards: readonly Model[], id: string): Model | undefined {
  const entry = wildcards.find(
    (model) => id.length > model.id.length - 1 && id.startsWith(model.id.slice(0, -1)),
  );
  if (entry === undefined) return undefined;
  const rest = id.slice(entry.id.length - 1);
  const targets = entry.targets.map((target) =>
    targetOf(
      target,
      target.model.replaceAll("*", () => rest),
    ),
  );
  return Object.freeze({ ...entry, id, targets });
}
