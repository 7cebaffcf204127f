/** Replay: what becomes of the newest requests under a candidate, found without an upstream call and without a text. */

import type { Model, Target } from "@sluice/spec";
import type { PipelineSettings, Snapshot } from "../config/snapshot.ts";
import { type RequestShape, SHAPE, type ShapeKey } from "../resources/request-shapes.ts";
import { mayUse } from "./authority.ts";
import { isSame, listed } from "./effects/compare.ts";
import { priceLookup } from "./effects/prices.ts";
import { createCatalog } from "./models.ts";
import { type ReplaySpend, SpendTally } from "./replay-spend.ts";

/** Requests that share a fate. */
export interface ReplayGroup {
  readonly what: string;
  readonly count: number;
}

/** What became of them. */
export interface Replay {
  /** Requests that were looked at: of all identified ones the newest. */
  readonly evaluated: number;
  /** Served by what runs, refused by the candidate. */
  readonly blocked: readonly ReplayGroup[];
  /** Refused by what runs, served by the candidate. */
  readonly admitted: readonly ReplayGroup[];
  /** Served by other providers. */
  readonly provider: readonly ReplayGroup[];
  /** Served by the same providers, with other models of theirs. */
  readonly model: readonly ReplayGroup[];
  /** Run through other steps. */
  readonly steps: readonly ReplayGroup[];
  /** Served by models of which the operator now says that they cannot. */
  readonly unfit: readonly ReplayGroup[];
  readonly spend: ReplaySpend;
}

/** Evaluates shapes on what runs and on a candidate. */
export function replay(shapes: readonly RequestShape[], live: Snapshot, candidate: Snapshot): Replay {
  const spend = new SpendTally();
  const [oldPrice, newPrice] = [priceLookup(live), priceLookup(candidate)];
  const before = planner(live);
  const after = planner(candidate);
  const tallies = {
    blocked: new Tally(),
    admitted: new Tally(),
    provider: new Tally(),
    model: new Tally(),
    steps: new Tally(),
    unfit: new Tally(),
  };
  let evaluated = 0;
  for (const shape of shapes) {
    const { count } = shape;
    evaluated += count;
    const old = before(shape);
    const now = after(shape);
    if ("refusal" in now) {
      if ("refusal" in old) spend.stillRefused(shape);
      else {
        tallies.blocked.add(now.refusal, count);
        spend.refused(shape);
      }
      continue;
    }
    if ("refusal" in old) {
      tallies.admitted.add(old.refusal, count);
      spend.admitted(shape);
      continue;
    }
    spend.served(shape, { targets: old.calls, priceOf: oldPrice }, { targets: now.calls, priceOf: newPrice });
    if (!isSame(old.providers, now.providers)) tallies.provider.add(moved(shape, old.providers, now.providers), count);
    else if (!isSame(old.targets, now.targets)) tallies.model.add(moved(shape, old.targets, now.targets), count);
    if (!isSame(old.steps, now.steps)) tallies.steps.add(stepChange(shape, old.steps, now.steps), count);
    if (old.fault === undefined && now.fault !== undefined) tallies.unfit.add(now.fault, count);
  }
  const told = Object.fromEntries(Object.entries(tallies).map(([name, tally]) => [name, tally.groups]));
  return { evaluated, ...(told as Omit<Replay, "evaluated" | "spend">), spend: spend.sum };
}

/** How many requests groups have together. */
export function countOf(groups: readonly ReplayGroup[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0);
}

interface Served {
  readonly steps: readonly string[];
  readonly providers: readonly string[];
  readonly targets: readonly string[];
  readonly calls: readonly Target[];
  readonly fault: string | undefined;
}

type Plan = Served | { readonly refusal: string };

/** Operations whose request names a model of the catalogue. */
const NAMES_MODEL: readonly string[] = ["chat", "embeddings", "images"];

function planner(snapshot: Snapshot): (shape: RequestShape) => Plan {
  const catalog = createCatalog(snapshot);
  const pipelines = new Map<string, PipelineSettings>();
  for (const pipeline of snapshot.pipelines) {
    for (const { method, path } of pipeline.routes) pipelines.set(`${method} ${path}`, pipeline);
  }
  const providers = new Set(snapshot.providers.filter(({ missing }) => missing.length === 0).map(({ name }) => name));
  const declared = new Map(snapshot.keys.map((key) => [`yaml:${key.alias}`, key.models]));
  return (shape) => {
    const pipeline = pipelines.get(`${shape.method} ${shape.path}`);
    if (pipeline === undefined) return { refusal: `the route ${shape.method} ${shape.path} is not served` };
    const key = keyOf(shape.key, declared);
    if (key === undefined) return { refusal: `the key ${shape.key.keyId} is not declared` };
    const steps = pipeline.steps.map(({ use }) => use);
    if (pipeline.operation === "passthrough") return passedThrough(shape, steps, providers);
    if (!NAMES_MODEL.includes(pipeline.operation)) return { steps, providers: [], targets: [], calls: [], fault: undefined };
    const model = catalog.find(shape.model);
    if (model === undefined) return { refusal: `there is no model ${shape.model}` };
    const identity = { ...NOBODY, ...key };
    if (steps.includes("auth") && !mayUse(identity, model)) {
      return { refusal: `the key ${key.keyId} may not use ${shape.model}` };
    }
    if (model.targets.length === 0) return { refusal: `the model ${shape.model} has no target that is available` };
    return {
      steps,
      providers: [...new Set(model.targets.map(({ provider }) => provider))].toSorted(),
      targets: model.targets.map(({ id }) => id).toSorted(),
      calls: model.targets,
      fault: faultOf(model, shape),
    };
  };
}

const NOBODY = { alias: undefined, userId: undefined, teamId: undefined, spendScope: "key", tags: [], metadata: {} } as const;

/** A declared key has the list of the configuration at hand; others have that of the store, which no edit changes. */
function keyOf(key: ShapeKey, declared: ReadonlyMap<string, readonly string[]>): ShapeKey | undefined {
  if (!key.keyId.startsWith("yaml:")) return key;
  const models = declared.get(key.keyId);
  return models === undefined ? undefined : { ...key, models };
}

function passedThrough(shape: RequestShape, steps: readonly string[], providers: ReadonlySet<string>): Plan {
  const { provider } = shape;
  if (provider !== "ref" && !providers.has(provider)) return { refusal: `the provider ${provider} is not available` };
  return { steps, providers: [provider], targets: [], calls: [], fault: undefined };
}

/** What the operator says of the model that the request does not agree with. */
function faultOf({ id, info }: Model, { flags, promptTokens }: RequestShape): string | undefined {
  if (info === undefined) return undefined;
  const { supports, maxInputTokens } = info;
  if (maxInputTokens !== undefined && promptTokens !== undefined && promptTokens > maxInputTokens) {
    return `prompts longer than the ${maxInputTokens} tokens of ${id}`;
  }
  if ((flags & SHAPE.tools) !== 0 && supports["supports_function_calling"] === false) return `tools, which ${id} has not`;
  if ((flags & SHAPE.images) !== 0 && supports["supports_vision"] === false) return `images, which ${id} does not take`;
  return undefined;
}

function moved({ model, path }: RequestShape, from: readonly string[], to: readonly string[]): string {
  return `${model === "" ? path : model}: ${listed(from)} -> ${listed(to)}`;
}

function stepChange({ method, path }: RequestShape, from: readonly string[], to: readonly string[]): string {
  const lost = from.filter((name) => !to.includes(name));
  const gained = to.filter((name) => !from.includes(name));
  const parts = [
    lost.length > 0 && `without ${lost.join(", ")}`,
    gained.length > 0 && `with ${gained.join(", ")}`,
    lost.length + gained.length === 0 && "in another order",
  ];
  return `${method} ${path}: ${parts.filter((part) => part !== false).join(", ")}`;
}

/** Counts by what happened. Clients make up models, so only the most frequent are told one by one. */
class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string, count: number): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  get groups(): readonly ReplayGroup[] {
    const sorted = [...this.#counts].map(([what, count]) => ({ what, count })).toSorted((a, b) => b.count - a.count);
    const rest = sorted.slice(MAX_GROUPS);
    return rest.length === 0
      ? sorted
      : [...sorted.slice(0, MAX_GROUPS), { what: `${rest.length} more reasons`, count: countOf(rest) }];
  }
}

const MAX_GROUPS = 20;
