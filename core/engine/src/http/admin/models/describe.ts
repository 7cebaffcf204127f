/** Models of the configuration, with the price and the health of each target. */

import type { DeploymentView, Price } from "@sluice/contract";
import type {
  ModelSettings,
  Position,
  ProviderSettings,
  Snapshot,
  TargetSettings,
} from "../../../config/snapshot.ts";
import { priceLookup } from "../../../generation/diff/effects/prices.ts";

/** Targets of a model that a row shows; it counts all. */
const SHOWN_TARGETS = 20;
/** A pico-dollar a token is a millionth of a dollar for a million tokens. */
const PICO_PER_MICRO = 1_000_000;
const PICO_PER_DOLLAR = 1_000_000_000_000;

const MODES = { chat: "chat", embedding: "embeddings", image: "images" } as const;
const BREAKERS = { closed: 0, half_open: 1, open: 2 } as const;
const HEALTH = { closed: "healthy", open: "ejected", half_open: "recovering" } as const;

/** A model as the route shows it. */
export type ModelRow = ReturnType<typeof describeModels>[number];

/** The rows of models. */
export function describeModels(
  models: readonly ModelSettings[],
  snapshot: Snapshot,
  deployments: readonly DeploymentView[],
) {
  const priceOf = priceLookup(snapshot);
  const providers = new Map(snapshot.providers.map((provider) => [provider.name, provider]));
  return models.map((model) => ({
    model: model.id,
    mode: MODES[model.mode],
    balance: model.balance ?? null,
    access_groups: model.accessGroups,
    only_named: model.onlyNamed === true,
    fallbacks: model.fallbacks ?? {},
    targets: model.targets.slice(0, SHOWN_TARGETS).map((target) => ({
      ...describeTarget(target, providers.get(target.provider)),
      price: describePrice(priceOf(target)),
      health: healthOf(target, deployments),
    })),
    targets_total: model.targets.length,
    declared_in: placeOf(model.at),
  }));
}

function describeTarget(target: TargetSettings, provider: ProviderSettings | undefined) {
  return {
    deployment: `${target.provider}/${target.model}`,
    provider: target.provider,
    model: target.model,
    weight: target.weight ?? 1,
    priority: target.priority ?? 0,
    max_parallel: target.maxParallel ?? null,
    rpm: target.rpm ?? null,
    tpm: target.tpm ?? null,
    tags: target.tags ?? [],
    missing: provider?.missing ?? [],
    declared_in: placeOf(target.at),
  };
}

function placeOf({ file, line }: Position): string {
  return `${file}:${line}`;
}

const SHOWN_RATES: ReadonlySet<string> = new Set([
  "free",
  "source",
  "input",
  "output",
  "cacheRead",
  "cacheWrite",
  "request",
]);

function describePrice(price: Price | undefined) {
  if (price === undefined) return null;
  const million = (rate: number | undefined): number | null =>
    rate === undefined ? null : rate / PICO_PER_MICRO;
  return {
    free: price.free === true,
    input: million(price.input),
    output: million(price.output),
    cache_read: million(price.cacheRead),
    cache_write: million(price.cacheWrite),
    request: price.request === undefined ? null : price.request / PICO_PER_DOLLAR,
    more: Object.keys(price)
      .filter((name) => !SHOWN_RATES.has(name))
      .map((name) => name.replaceAll(/[A-Z0-9]+/g, (part) => `_${part.toLowerCase()}`)),
    source: price.source,
  };
}

/** The health of a target; that of a wildcard is the worst of the deployments that it has made. */
function healthOf({ provider, model }: TargetSettings, deployments: readonly DeploymentView[]) {
  const [before = "", after] = `${provider}/${model}`.split("*", 2);
  const own = deployments.filter(({ id }) =>
    after === undefined ? id === before : id.startsWith(before) && id.endsWith(after),
  );
  const worst = own.toSorted((a, b) => BREAKERS[b.breaker] - BREAKERS[a.breaker])[0];
  if (worst === undefined) return null;
  const held = own.find(({ heldUntilMs }) => heldUntilMs !== undefined)?.heldUntilMs;
  return {
    health: HEALTH[worst.breaker],
    held_until: held === undefined ? null : new Date(held).toISOString(),
    credential_refused: own.some(({ isCredentialRefused: isRefused }) => isRefused),
  };
}
