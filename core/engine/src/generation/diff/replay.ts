/**
 * Replay: what becomes of the newest requests under a candidate, found without an upstream call and
 * without a text.
 */

import type { Target } from "@sluice/contract";
import type { DeclaredTeam, PipelineSettings, Snapshot } from "../../config/snapshot.ts";
import { routedModel } from "@sluice/runtime";
import { mayUse } from "../authority.ts";
import { isSame, listed } from "./effects/compare.ts";
import { priceLookup } from "./effects/prices.ts";
import { createCatalog } from "../models.ts";
import { boundsOf, type ReplayKey, type RequestGroup } from "./ledger-requests.ts";
import { type ReplaySpend, SpendTally } from "./replay-spend.ts";

/** Requests with the same result. */
export interface ReplayGroup {
  readonly what: string;
  readonly count: number;
}

/** The result of a replay. */
export interface Replay {
  /** Requests that were evaluated: the newest of the ledger. */
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
  /** Longer than the model now accepts. */
  readonly unfit: readonly ReplayGroup[];
  readonly spend: ReplaySpend;
}

/** Evaluates groups of requests on what runs and on a candidate. */
export function replay(
  groups: readonly RequestGroup[],
  live: Snapshot,
  candidate: Snapshot,
): Replay {
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
  for (const group of groups) {
    const { count } = group;
    evaluated += count;
    const old = before(group);
    const now = after(group);
    if ("refusal" in now) {
      if ("refusal" in old) spend.stillRefused(group);
      else {
        tallies.blocked.add(now.refusal, count);
        spend.refused(group);
      }
      continue;
    }
    if ("refusal" in old) {
      tallies.admitted.add(old.refusal, count);
      spend.admitted(group);
      continue;
    }
    spend.served(
      group,
      { targets: old.calls, priceOf: oldPrice },
      { targets: now.calls, priceOf: newPrice },
    );
    if (!isSame(old.providers, now.providers))
      tallies.provider.add(moved(group, old.providers, now.providers), count);
    else if (!isSame(old.targets, now.targets))
      tallies.model.add(moved(group, old.targets, now.targets), count);
    if (!isSame(old.steps, now.steps))
      tallies.steps.add(stepChange(group, old.steps, now.steps), count);
    const unfit = tooLong(group, old, now);
    if (unfit > 0)
      tallies.unfit.add(
        `prompts longer than the ${now.maxInputTokens} tokens of ${group.model}`,
        unfit,
      );
  }
  const tallied = Object.fromEntries(
    Object.entries(tallies).map(([name, tally]) => [name, tally.groups]),
  );
  return { evaluated, ...(tallied as Omit<Replay, "evaluated" | "spend">), spend: spend.sum };
}

/** The number of requests of all groups. */
export function countOf(groups: readonly ReplayGroup[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0);
}

interface Served {
  readonly steps: readonly string[];
  readonly providers: readonly string[];
  readonly targets: readonly string[];
  readonly calls: readonly Target[];
  /** The longest prompt that the model's `info` allows. */
  readonly maxInputTokens: number | undefined;
}

type Plan = Served | { readonly refusal: string };

/** Operations whose request names a model of the catalogue. */
const NAMES_MODEL: readonly string[] = ["chat", "embeddings", "images"];

function planner(snapshot: Snapshot): (group: RequestGroup) => Plan {
  const catalog = createCatalog(snapshot);
  const pipelines = Map.groupBy(
    snapshot.pipelines.filter(({ routes }) => routes.length > 0),
    ({ operation }): string => operation,
  );
  const providers = new Set(
    snapshot.providers.filter(({ missing }) => missing.length === 0).map(({ name }) => name),
  );
  const keysOf = new Map(snapshot.keys.map((key) => [`yaml:${key.alias}`, key.models]));
  const teamsOf = new Map(snapshot.teams.map((team) => [team.id, team]));
  return (group) => {
    const served = pipelines.get(group.callType);
    if (served === undefined) return { refusal: `no route serves ${group.callType}` };
    const key = keyOf(group.key, keysOf, teamsOf);
    if (typeof key === "string") return { refusal: key };
    const steps = stepsOf(served);
    if (group.callType === "passthrough") return passedThrough(group, steps, providers);
    if (!NAMES_MODEL.includes(group.callType))
      return { steps, providers: [], targets: [], calls: [], maxInputTokens: undefined };
    const named = catalog.find(group.model);
    if (named === undefined) return { refusal: `there is no model ${group.model}` };
    const model = routedModel(named, { request: { tags: group.tags } });
    if (model === undefined)
      return { refusal: `the model ${group.model} has no target for the tags of the request` };
    const hasAuth = served.some((pipeline) => pipeline.steps.some(({ use }) => use === "auth"));
    if (hasAuth && !mayUse({ ...NO_RECORD, ...key }, model)) {
      return { refusal: `the key ${key.keyId} may not use ${group.model}` };
    }
    if (model.targets.length === 0)
      return { refusal: `the model ${group.model} has no target that is available` };
    return {
      steps,
      providers: [...new Set(model.targets.map(({ provider }) => provider))].toSorted(),
      targets: model.targets.map(({ id }) => id).toSorted(),
      calls: model.targets,
      maxInputTokens: model.info?.maxInputTokens,
    };
  };
}

/**
 * The steps that a call type runs through. A row does not name its pipeline: where several
 * pipelines serve the call type, the steps of all of them count, each with the name of its
 * pipeline.
 */
function stepsOf(pipelines: readonly PipelineSettings[]): readonly string[] {
  const [only, ...others] = pipelines;
  if (only !== undefined && others.length === 0) return only.steps.map(({ use }) => use);
  return pipelines.flatMap(({ name, steps }) => steps.map(({ use }) => `${name}/${use}`));
}

const NO_RECORD = {
  alias: undefined,
  userId: undefined,
  teamId: undefined,
  spendScope: "key",
  tags: [],
  metadata: {},
} as const;

/**
 * A declared key or team has the list of the configuration at hand; others have that of the store,
 * which no edit changes. A string is the reason why the key is refused.
 */
function keyOf(
  key: ReplayKey,
  keysOf: ReadonlyMap<string, readonly string[]>,
  teamsOf: ReadonlyMap<string, DeclaredTeam>,
): ReplayKey | string {
  const models = key.keyId.startsWith("yaml:") ? keysOf.get(key.keyId) : key.models;
  if (models === undefined) return `the key ${key.keyId} is not declared`;
  const { teamId, isTeamOfFile = false } = key;
  const team = teamsOf.get(teamId ?? "");
  if (team === undefined && isTeamOfFile) return `the team ${teamId} is not declared`;
  if (team?.blocked === true) return `the team ${teamId} is blocked`;
  return { ...key, models, ...(team !== undefined && { modelBounds: boundsOf(team.models) }) };
}

function passedThrough(
  { provider }: RequestGroup,
  steps: readonly string[],
  providers: ReadonlySet<string>,
): Plan {
  // A call that was refused reached no provider.
  if (provider === "")
    return { steps, providers: [], targets: [], calls: [], maxInputTokens: undefined };
  if (!providers.has(provider)) return { refusal: `the provider ${provider} is not available` };
  return { steps, providers: [provider], targets: [], calls: [], maxInputTokens: undefined };
}

/** Counts the prompts that only the candidate's model refuses as too long. */
function tooLong({ promptTokens }: RequestGroup, old: Served, now: Served): number {
  const [before, after] = [old.maxInputTokens ?? Infinity, now.maxInputTokens ?? Infinity];
  return promptTokens.filter((tokens) => tokens > after && tokens <= before).length;
}

function moved(
  { model, callType }: RequestGroup,
  from: readonly string[],
  to: readonly string[],
): string {
  return `${model === "" ? callType : model}: ${listed(from)} -> ${listed(to)}`;
}

function stepChange(
  { callType }: RequestGroup,
  from: readonly string[],
  to: readonly string[],
): string {
  const lost = from.filter((name) => !to.includes(name));
  const gained = to.filter((name) => !from.includes(name));
  const parts = [
    lost.length > 0 && `without ${lost.join(", ")}`,
    gained.length > 0 && `with ${gained.join(", ")}`,
    lost.length + gained.length === 0 && "in another order",
  ];
  return `${callType}: ${parts.filter((part) => part !== false).join(", ")}`;
}

/**
 * Counts by what happened. Clients choose the names of models, so only the most frequent reasons
 * are listed one by one.
 */
class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string, count: number): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  get groups(): readonly ReplayGroup[] {
    const sorted = [...this.#counts]
      .map(([what, count]) => ({ what, count }))
      .toSorted((a, b) => b.count - a.count);
    const rest = sorted.slice(MAX_GROUPS);
    return rest.length === 0
      ? sorted
      : [
          ...sorted.slice(0, MAX_GROUPS),
          { what: `${rest.length} more reasons`, count: countOf(rest) },
        ];
  }
}

const MAX_GROUPS = 20;
