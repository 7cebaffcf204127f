/**
 * Contents that would widen access. An operator may roll back to them; the automatic rollback does
 * not.
 */

import type { StepDefinition } from "@sluice/contract";
import type { Finding } from "../../config/finding.ts";
import type { ModelSettings, PipelineSettings, Snapshot } from "../../config/snapshot.ts";
import { isSame, listed, matched } from "../diff/effects/compare.ts";
import type { Generation } from "../generation.ts";
import { isGuarding } from "./shrink-guard.ts";
import type { RolloutFault } from "./rollout-monitor.ts";

type StepDefinitions = ReadonlyMap<string, StepDefinition<never>>;

/**
 * The finding that keeps a failing generation; `undefined` when the gateway may roll back to the
 * one before.
 */
export function obstacleOf(
  { generation, previous, reason }: RolloutFault,
  live: Generation | undefined,
  target: Snapshot | undefined,
  definitions: StepDefinitions,
): Finding | undefined {
  // Another edit has replaced it: there is no rollback.
  if (live?.number !== generation || target === undefined) return undefined;
  const [file] = live.snapshot.files;
  const unwanted = wouldWidenAccess(live.snapshot, target, definitions);
  if (unwanted === undefined) return undefined;
  return {
    at: { file: file?.end.file ?? "", line: 1, column: 1 },
    message: `${reason}; it stays, because generation ${previous} ${unwanted}.`,
    fix: `Correct the edit; or, if that is meant, go back with \`sluice rollback ${previous}\`.`,
  };
}

/**
 * Why contents would widen access; `undefined` when no client could do more with them than now.
 * Such contents serve no other route or model, take no other key, and have every team, guardrail,
 * policy and guarding step as it is now: a difference in these may be an edit that closed access on
 * purpose.
 */
export function wouldWidenAccess(
  live: Snapshot,
  target: Snapshot,
  definitions: StepDefinitions,
): string | undefined {
  const models = target.models.filter((then) => {
    const now = live.models.find((model) => model.id === then.id);
    return (
      now === undefined ||
      !isSame(now.accessGroups, then.accessGroups) ||
      now.onlyNamed !== then.onlyNamed ||
      !isSame(tagsOf(now), tagsOf(then))
    );
  });
  if (models.length > 0) return `would open the models ${listed(models.map(({ id }) => id))}`;
  const keys = target.keys.filter((key) => !live.keys.some((now) => isSame(now, key)));
  if (keys.length > 0) return `would open the keys ${listed(keys.map(({ alias }) => alias))}`;
  const teams = changedTeams(live, target);
  if (teams.length > 0) return `would change the teams ${listed(teams)}`;
  if (!isSame(live.tenants, target.tenants))
    return "has other organizations, users, members, customers, budgets or access groups";
  const guardrails = live.guardrails.filter(
    (now) => !target.guardrails.some((guardrail) => isSame(now, guardrail)),
  );
  if (guardrails.length > 0)
    return `has not the guardrails ${listed(guardrails.map(({ name }) => name))} as they are now`;
  if (!isSame(live.policies, target.policies)) return "has other policies";
  const now = guardsOfRoutes(live, definitions);
  const then = guardsOfRoutes(target, definitions);
  const routes = [...then]
    .filter(([route, guards]) => !isSame(now.get(route), guards))
    .map(([route]) => route);
  return routes.length > 0 ? `would guard otherwise: ${listed(routes)}` : undefined;
}

/** The tags of a model's targets, where one has any. */
function tagsOf({ matchTags, targets }: ModelSettings): unknown {
  if (matchTags === undefined) return undefined;
  const tags = targets.map(({ provider, model, tags: own }) => ({ provider, model, own }));
  return { matchTags, tags };
}

/**
 * Teams that are declared in one of the two alone, or otherwise. A key of a team that is not
 * declared may have another team of the store.
 */
function changedTeams(live: Snapshot, target: Snapshot): string[] {
  const { removed, added, kept } = matched(live.teams, target.teams, ({ id }) => id);
  const changed = kept.filter(([now, then]) => !isSame(now, then)).map(([now]) => now);
  return [...removed, ...added, ...changed].map(({ id }) => id);
}

function guardsOfRoutes(
  { pipelines }: Snapshot,
  definitions: StepDefinitions,
): ReadonlyMap<string, unknown> {
  return new Map(
    pipelines.flatMap((pipeline) => {
      const guards = guardsOf(pipeline, definitions);
      return pipeline.routes.map(({ method, path }) => [`${method} ${path}`, guards] as const);
    }),
  );
}

function guardsOf({ steps }: PipelineSettings, definitions: StepDefinitions): unknown {
  return steps
    .filter(({ use }) => isGuarding(use, definitions))
    .map(({ index: _index, ...step }) => step);
}
