/**
 * Effects on routes: those that come and go, and the steps that each gains, loses or runs
 * otherwise.
 */

import type { StepDefinition } from "@sluice/contract";
import type {
  PipelineSettings,
  RouteSettings,
  Snapshot,
  StepSettings,
} from "../../../config/snapshot.ts";
import { changesOf, isSame, listed, matched } from "./compare.ts";
import type { Effect, Risk } from "./effect.ts";

type StepDefinitions = ReadonlyMap<string, StepDefinition<never>>;

/**
 * The guards of a route, by the step's name or its `provides`: a route without one is open or
 * unobserved.
 */
const GUARDING = new Set(["auth", "identity", "limits", "budget", "budgets", "guardrails"]);
/** Steps without which requests are served as before, but not as well, or not counted. */
const SUPPORTING = new Set([
  "cost",
  "cache",
  "fallback",
  "balance",
  "retry",
  "idempotency",
  "hedge",
]);

interface Route {
  readonly name: string;
  readonly route: RouteSettings;
  readonly pipeline: PipelineSettings;
}

interface Compared {
  readonly before: PipelineSettings;
  readonly effects: readonly Omit<Effect, "about">[];
}

/** The effects. Routes of a pipeline that change alike share one effect. */
export function routeEffects(
  live: Snapshot,
  candidate: Snapshot,
  definitions: StepDefinitions,
): Effect[] {
  const { removed, added, kept } = matched(routesOf(live), routesOf(candidate), ({ name }) => name);
  // A pipeline with many routes is compared once.
  const compared = new Map<PipelineSettings, Compared>();
  const changes = kept.flatMap(([{ pipeline: before }, { pipeline: after, name }]) => {
    const known = compared.get(after);
    const effects =
      known?.before === before ? known.effects : pipelineEffects(before, after, definitions);
    compared.set(after, { before, effects });
    return effects.map((effect) => ({ ...effect, name }));
  });
  const together = Map.groupBy(changes, ({ risk, message }) => `${risk} ${message}`);
  return [
    ...removed.map(({ name }): Effect => ({
      risk: "danger",
      about: `route ${name}`,
      message: "is no longer served",
    })),
    ...added.map(({ name, route, pipeline }): Effect => {
      const isGuarded = pipeline.steps.some((step) => roleOf(step, definitions) === "identity");
      const message = `is served by the pipeline ${pipeline.name}: ${pipeline.steps.map(({ use }) => use).join(", ")}`;
      return {
        risk: isGuarded ? "caution" : "danger",
        about: `route ${name}`,
        message,
        at: route.at,
      };
    }),
    ...[...together.values()].map((same): Effect => {
      const { risk, message, at } = same[0]!;
      const names = same.map(({ name }) => name);
      return {
        risk,
        about: `${names.length === 1 ? "route" : "routes"} ${listed(names)}`,
        message,
        at,
      };
    }),
  ];
}

function routesOf({ pipelines }: Snapshot): Route[] {
  return pipelines.flatMap((pipeline) =>
    pipeline.routes.map((route) => ({ name: `${route.method} ${route.path}`, route, pipeline })),
  );
}

function pipelineEffects(
  before: PipelineSettings,
  after: PipelineSettings,
  definitions: StepDefinitions,
): Omit<Effect, "about">[] {
  const old = numbered(before.steps);
  const now = numbered(after.steps);
  const { removed, added, kept } = matched(old, now, ({ name }) => name);
  const effects: Omit<Effect, "about">[] = [];
  const stillThere = new Set(now.map(({ step }) => roleOf(step, definitions)));
  for (const { step, name } of removed) {
    const role = roleOf(step, definitions);
    // Another plugin in its place that provides the same is an exchange, not a loss.
    const isReplaced = role !== step.use && stillThere.has(role);
    const risk = isReplaced ? "caution" : riskOfLoss(role);
    effects.push({ risk, message: `loses the step ${name}`, at: after.at });
  }
  for (const { step, name } of added) {
    const risk: Risk = SUPPORTING.has(step.use) ? "safe" : "caution";
    effects.push({ risk, message: `gains the step ${name}`, at: step.at });
  }
  for (const [{ step: from }, { step: to, name }] of kept)
    effects.push(...stepEffects(from, to, name, definitions));
  const common = (steps: readonly Numbered[]): string[] =>
    steps.map(({ name }) => name).filter((name) => kept.some(([, entry]) => entry.name === name));
  if (!isSame(common(old), common(now))) {
    effects.push({
      risk: "caution",
      message: `runs its steps in another order: ${common(now).join(", ")}`,
      at: after.at,
    });
  }
  for (const change of changesOf(before, after, ["steps", "routes", "file", "name", "tests"])) {
    effects.push({ risk: "caution", message: change, at: after.at });
  }
  return effects;
}

interface Numbered {
  readonly step: StepSettings;
  /** The step's name; its second use is `name (2)`. */
  readonly name: string;
}

function numbered(steps: readonly StepSettings[]): Numbered[] {
  const uses = new Map<string, number>();
  return steps.map((step) => {
    const count = (uses.get(step.use) ?? 0) + 1;
    uses.set(step.use, count);
    return { step, name: count === 1 ? step.use : `${step.use} (${count})` };
  });
}

/** The role of a step: the guard that it provides, or else its name. */
function roleOf({ use }: StepSettings, definitions: StepDefinitions): string {
  const provided = definitions.get(use)?.order?.provides?.find((word) => GUARDING.has(word));
  return provided ?? (use === "auth" ? "identity" : use);
}

function riskOfLoss(role: string): Risk {
  return GUARDING.has(role) ? "danger" : "caution";
}

/** The changes within a step: its options, and the options of every step. */
function stepEffects(
  before: StepSettings,
  after: StepSettings,
  name: string,
  definitions: StepDefinitions,
): Omit<Effect, "about">[] {
  const isGuard = GUARDING.has(roleOf(after, definitions));
  const options = changesOf(before.options, after.options).map((change): Omit<Effect, "about"> => ({
    risk: isGuard && isWeaker(change) ? "danger" : "caution",
    message: `step ${name}, ${change}`,
    at: after.at,
  }));
  // `when`, `mode`, `active` and whatever else every step takes.
  const common = changesOf(before, after, ["use", "options", "index"]).map(
    (change): Omit<Effect, "about"> => ({
      risk: isGuard && !/-> none$|-> enforce$/.test(change) ? "danger" : "caution",
      message: `step ${name}, ${change}`,
      at: after.at,
    }),
  );
  return [...common, ...options];
}

/** Whether a change of a guarding step's option reads like one that lets more through. */
function isWeaker(change: string): boolean {
  const [, name = "", before = "", after = ""] = /^([^:]+): (.*) -> (.*)$/s.exec(change) ?? [];
  if (/^(input|output|windows|budgets|parallel|default)$/.test(name))
    return after === "none" || after.length < before.length;
  if (name === "unpriced") return after === "allow";
  if (name === "on_error") return after === "skip";
  if (name === "mode" || name === "stream") return after === "shadow" || after === "observe";
  if (name === "limit_master") return after === "false";
  return name.startsWith("max") && (after === "none" || Number(after) > Number(before));
}
