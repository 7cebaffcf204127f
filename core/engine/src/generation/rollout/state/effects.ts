/** Effects of the rollout: how results are written, and how transitions are joined. */

import type { ApplyOutcome } from "../outcome.ts";
import type { Reduced, RolloutEdit, RolloutEffect, RolloutGeneration, Settled } from "./model.ts";

/** The result of an edit. It is logged and counted, unless `isReported` is false. */
export function settle<E>(
  edit: E,
  outcome: ApplyOutcome,
  generation: number | undefined,
  { isReported = true, findings = [], reason }: Partial<Settled<E>> = {},
): Settled<E> {
  return { type: "settle", edit, outcome, generation, findings, reason, isReported };
}

/** A transition after these effects. */
export function after<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  effects: readonly RolloutEffect<G, E>[],
  next: Reduced<G, E>,
): Reduced<G, E> {
  return { state: next.state, effects: [...effects, ...next.effects] };
}

/** A transition before these effects. */
export function before<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  first: Reduced<G, E>,
  effects: readonly RolloutEffect<G, E>[],
): Reduced<G, E> {
  return { state: first.state, effects: [...first.effects, ...effects] };
}
