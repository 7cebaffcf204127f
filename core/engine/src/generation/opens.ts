/** What contents would open that is closed now: nobody but a person may go back to such contents. */

import type { StepDefinition } from "@sluice/spec";
import type { Finding } from "../config/finding.ts";
import type { PipelineSettings, Snapshot } from "../config/snapshot.ts";
import { isSame, listed } from "./effects/compare.ts";
import type { Generation } from "./generation.ts";
import { isGuarding } from "./shrink.ts";
import type { SwapFault } from "./swap-watch.ts";

type StepDefinitions = ReadonlyMap<string, StepDefinition<never>>;

/** The finding because of which a generation that fails stays all the same; `undefined` when nothing speaks against the one before. */
export function obstacleOf(
  { generation, previous, reason }: SwapFault,
  live: Generation | undefined,
  target: Snapshot | undefined,
  definitions: StepDefinitions,
): Finding | undefined {
  // Another edit has taken its place: nothing is gone back from.
  if (live?.number !== generation || target === undefined) return undefined;
  const [file] = live.snapshot.files;
  const unwanted = opens(live.snapshot, target, definitions);
  if (unwanted === undefined) return undefined;
  return {
    at: { file: file?.end.file ?? "", line: 1, column: 1 },
    message: `${reason}; it stays, because generation ${previous} ${unwanted}.`,
    fix: `Correct the edit; or, if that is meant, go back with \`sluice rollback ${previous}\`.`,
  };
}

/**
 * Why contents must not come back by themselves, for a person; `undefined` when nobody could do more with them than now. They serve no
 * other route or model, take no other key, and every guardrail, policy and step that guards is as it is now: what differs in
 * these is taken for something that was closed on purpose.
 */
export function opens(live: Snapshot, target: Snapshot, definitions: StepDefinitions): string | undefined {
  const models = target.models.filter(({ id, accessGroups, onlyNamed }) => {
    const now = live.models.find((model) => model.id === id);
    return now === undefined || !isSame(now.accessGroups, accessGroups) || now.onlyNamed !== onlyNamed;
  });
  if (models.length > 0) return `would open the models ${listed(models.map(({ id }) => id))}`;
  const keys = target.keys.filter((key) => !live.keys.some((now) => isSame(now, key)));
  if (keys.length > 0) return `would open the keys ${listed(keys.map(({ alias }) => alias))}`;
  const guardrails = live.guardrails.filter((now) => !target.guardrails.some((guardrail) => isSame(now, guardrail)));
  if (guardrails.length > 0) return `has not the guardrails ${listed(guardrails.map(({ name }) => name))} as they are now`;
  if (!isSame(live.policies, target.policies)) return "has other policies";
  const now = guardsOfRoutes(live, definitions);
  const then = guardsOfRoutes(target, definitions);
  const routes = [...then].filter(([route, guards]) => !isSame(now.get(route), guards)).map(([route]) => route);
  return routes.length > 0 ? `would guard otherwise: ${listed(routes)}` : undefined;
}

function guardsOfRoutes({ pipelines }: Snapshot, definitions: StepDefinitions): ReadonlyMap<string, unknown> {
  return new Map(
    pipelines.flatMap((pipeline) => {
      const guards = guardsOf(pipeline, definitions);
      return pipeline.routes.map(({ method, path }) => [`${method} ${path}`, guards] as const);
    }),
  );
}

function guardsOf({ steps }: PipelineSettings, definitions: StepDefinitions): unknown {
  return steps.filter(({ use }) => isGuarding(use, definitions)).map(({ index: _index, ...step }) => step);
}
