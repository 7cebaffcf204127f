/**
 * Trials: the verdicts on a canary, and on a live generation, which is a canary of 100 %.
 * Transitions of the rollout.
 */

import { type CanaryEnd, type CanaryVerdict, endOf } from "../canary/canary.ts";
import { runs } from "./contents.ts";
import type {
  Reduced,
  RollbackNotice,
  RolloutEdit,
  RolloutEffect,
  RolloutEvent,
  RolloutGeneration,
  RolloutState,
} from "./model.ts";
import type { RolloutFault } from "../rollout-monitor.ts";

/** Failed contents that are remembered. */
const MAX_FAILED = 1_000;

/** A verdict of this process ends the canary; one of several processes votes with it, once. */
export function verdict<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  given: CanaryVerdict,
): Reduced<G, E> {
  const { canary } = state;
  if (canary === undefined || canary.hasVoted || canary.generation.snapshot.digest !== given.digest)
    return { state, effects: [] };
  if (!state.isOneOfSeveral) return endCanary(state, ...endOf([given]), true);
  return {
    state: { ...state, canary: { ...canary, hasVoted: true } },
    effects: [{ type: "vote", verdict: given }],
  };
}

/**
 * All processes have decided. A process without the canary reads the files, which the others run,
 * when it was promoted.
 */
export function countVotes<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  { digest, end, reason }: Extract<RolloutEvent<G, E>, { readonly type: "votes-counted" }>,
): Reduced<G, E> {
  if (state.canary?.generation.snapshot.digest === digest)
    return endCanary(state, end, reason, true);
  const isBehind = end === "promoted" && !state.isStopped && state.live?.snapshot.digest !== digest;
  return { state, effects: isBehind ? [{ type: "read-files" }] : [] };
}

/**
 * Ends the canary: `promoted`, it serves all keys; `returned`, it drains. Without a canary nothing
 * happens.
 */
export function endCanary<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  end: CanaryEnd,
  reason: string,
  isReported: boolean,
): Reduced<G, E> {
  const { canary, live } = state;
  if (canary === undefined || live === undefined) return { state, effects: [] };
  const { generation, edit } = canary;
  const isPromoted = end === "promoted";
  const leaving = isPromoted ? live : generation;
  const effects: RolloutEffect<G, E>[] = [{ type: "stop-canary" }];
  // Its own trial was that of the canary.
  if (isPromoted) effects.push({ type: "serve", generation, previous: live, isJudged: false });
  effects.push({ type: "drain", generation: leaving, timeoutOf: leaving });
  effects.push({ type: "canary-ended", end, generation, edit, reason, isReported });
  const left = { ...state, canary: undefined, draining: [...state.draining, leaving] };
  if (!isPromoted) return { state: left, effects };
  return { state: runs({ ...left, live: generation, trial: undefined }, edit), effects };
}

/**
 * The requests of the live generation fail. While an edit is on its way nothing happens: the next
 * failure is another event.
 */
export function fault<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  found: RolloutFault,
): Reduced<G, E> {
  const { trial } = state;
  if (trial === undefined || trial.generation.number !== found.generation)
    return { state, effects: [] };
  return leave(state, { ...found, previous: trial.previous.number }, true);
}

/** Another process has rolled back. This one does so where the same contents are live. */
export function notice<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  { digest, previous, reason }: RollbackNotice,
): Reduced<G, E> {
  const { live } = state;
  if (live?.snapshot.digest !== digest) return { state, effects: [] };
  return leave(state, { generation: live.number, previous, reason }, false);
}

/** Leaves the live generation. Its contents are not judged again. */
function leave<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  found: RolloutFault,
  isOwn: boolean,
): Reduced<G, E> {
  const { live, failed } = state;
  if (live === undefined || isBusy(state)) return { state, effects: [] };
  const { digest } = live.snapshot;
  const rollback = { fault: found, digest, isOwn };
  const next = {
    ...state,
    trial: undefined,
    rollback,
    failed: [...failed, digest].slice(-MAX_FAILED),
  };
  return { state: next, effects: [{ type: "end-trial" }, { type: "roll-back", fault: found }] };
}

/** Whether an edit or an automatic rollback is on its way. */
export function isBusy<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
): boolean {
  return state.making !== undefined || state.readings > 0 || state.rollback !== undefined;
}

/**
 * Ends the automatic rollback whose edit these effects settle. The other processes are notified of
 * one that was applied here.
 */
export function endRollback<G extends RolloutGeneration, E extends RolloutEdit<G>>({
  state,
  effects,
}: Reduced<G, E>): Reduced<G, E> {
  const { rollback } = state;
  if (rollback === undefined) return { state, effects };
  const { fault: found, digest, isOwn } = rollback;
  const end = effects.find(
    (effect) =>
      (effect.type === "settle" || effect.type === "reject") &&
      effect.edit.options.replaces === found.generation,
  );
  if (end === undefined) return { state, effects };
  const isApplied = end.type === "settle" && end.outcome === "applied";
  const notify = {
    type: "notify",
    notice: { digest, previous: found.previous, reason: found.reason },
  } as const;
  return {
    state: { ...state, rollback: undefined },
    effects: isOwn && isApplied ? [...effects, notify] : effects,
  };
}
