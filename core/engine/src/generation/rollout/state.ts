/**
 * The rollout: which generation serves, which candidate is made, and which generations drain. A pure state machine: `reduce` takes a
 * state and an event, and returns the next state and the effects that the manager carries out, in their order.
 *
 *              asked                  built                     drained
 *   (edit) ──► queued ──► making ──┬──────────► live ──► draining ──────► closed
 *                 │         │      │ as a canary  ▲          ▲
 *                 │         │      └───► canary ──┘ promoted │
 *                 │         │               └────────────────┘ returned
 *                 ▼         ▼
 *             superseded  refused, superseded, unchanged
 *
 * Invariants, explored by `state.test.ts`:
 *
 * 1. One generation is live from the first one until the stop; it is neither the canary nor draining.
 * 2. One canary at most, beside a live generation.
 * 3. One candidate at most is made, and one waits. A candidate waits only while another one is made.
 * 4. Each edit is made, waits, or was settled exactly once.
 * 5. A generation that was left, returned or discarded never serves again.
 * 6. Each generation that was built serves, drains or was discarded.
 * 7. After the stop no generation serves and none is built.
 */

import type { Finding } from "../../config/finding.ts";
import type { ApplyOutcome } from "./apply.ts";
import type { CanaryEnd, CanaryPlan } from "./canary.ts";

/** A generation, as far as the rollout decides about it. */
export interface RolloutGeneration {
  readonly number: number;
  readonly snapshot: { readonly digest: string };
}

/** An edit: contents that are to be applied. */
export interface RolloutEdit<G extends RolloutGeneration> {
  readonly snapshot: { readonly digest: string };
  readonly options: {
    readonly canary?: CanaryPlan | undefined;
    /** The running contents, read again. */
    readonly isRefresh?: boolean;
    /** It replaces this generation and no other. */
    readonly replaces?: number | undefined;
    /** The number of the same contents in another worker. */
    readonly number?: number | undefined;
    readonly hasServed?: boolean;
    readonly reason?: string | undefined;
  };
  /** The live generation when the edit was asked for. */
  readonly live: G | undefined;
}

/** The state of a rollout. */
export interface RolloutState<G extends RolloutGeneration, E extends RolloutEdit<G>> {
  readonly live: G | undefined;
  readonly canary: G | undefined;
  readonly draining: readonly G[];
  readonly making: E | undefined;
  readonly queued: E | undefined;
  readonly isStopped: boolean;
}

/** An event of the rollout. */
export type RolloutEvent<G, E> =
  | { readonly type: "asked"; readonly edit: E }
  /** The candidate in the making has passed its tests. */
  | { readonly type: "built"; readonly generation: G }
  /** The candidate in the making has findings, or was overtaken. */
  | { readonly type: "failed"; readonly outcome: "refused" | "superseded"; readonly findings: readonly Finding[] }
  /** Making the candidate threw. */
  | { readonly type: "threw"; readonly error: unknown }
  | { readonly type: "canary-ended"; readonly end: CanaryEnd; readonly reason: string }
  | { readonly type: "drained"; readonly generation: G }
  | { readonly type: "stopped" };

/** An effect that the manager carries out. */
export type RolloutEffect<G, E> =
  | { readonly type: "make"; readonly edit: E }
  /** Ends the waits and the tests of the candidate in the making: a newer one came, or the rollout stops. */
  | { readonly type: "overtake" }
  | { readonly type: "serve"; readonly generation: G; readonly previous: G | undefined; readonly isJudged: boolean }
  /** Drains a generation within the drain timeout of `timeoutOf`; within that of the stop where it is absent. */
  | { readonly type: "drain"; readonly generation: G; readonly timeoutOf?: G }
  | { readonly type: "discard"; readonly generation: G }
  | { readonly type: "begin-canary"; readonly generation: G; readonly live: G; readonly plan: CanaryPlan }
  | { readonly type: "stop-canary" }
  /** `isReported`: the end is the result of an event of its own, not of an edit. */
  | Ended<G>
  | Settled<E>
  | { readonly type: "reject"; readonly edit: E; readonly error: unknown };

/** A canary has ended. */
export interface Ended<G> {
  readonly type: "canary-ended";
  readonly end: CanaryEnd;
  readonly generation: G;
  readonly reason: string;
  readonly isReported: boolean;
}

/** The result of an edit. `isReported`: it is logged and counted. */
export interface Settled<E> {
  readonly type: "settle";
  readonly edit: E;
  readonly outcome: ApplyOutcome;
  readonly generation: number | undefined;
  readonly reason?: string | undefined;
  readonly findings: readonly Finding[];
  readonly isReported: boolean;
}

/** A state and the effects that lead to it. */
export interface Reduced<G extends RolloutGeneration, E extends RolloutEdit<G>> {
  readonly state: RolloutState<G, E>;
  readonly effects: readonly RolloutEffect<G, E>[];
}

/** The state before the first edit. */
export const START = Object.freeze({
  live: undefined,
  canary: undefined,
  draining: Object.freeze([]) as readonly never[],
  making: undefined,
  queued: undefined,
  isStopped: false,
});

/** Takes an event. */
export function reduce<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  event: RolloutEvent<G, E>,
): Reduced<G, E> {
  switch (event.type) {
    case "asked":
      return ask(state, event.edit);
    case "built":
      return built(state, event.generation);
    case "failed":
      return leaveMaking(state, (edit) => settle(edit, event.outcome, undefined, { findings: event.findings }));
    case "threw":
      return leaveMaking(state, (edit) => ({ type: "reject", edit, error: event.error }));
    case "canary-ended":
      return endCanary(state, event.end, event.reason, true);
    case "drained":
      return { state: { ...state, draining: state.draining.filter((one) => one !== event.generation) }, effects: [] };
    case "stopped":
      return stop(state);
  }
}

/** Whether the candidate in the making has been overtaken: by an edit with other contents, or by the stop. A refresh waits. */
export function isOvertaken<G extends RolloutGeneration, E extends RolloutEdit<G>>(state: RolloutState<G, E>): boolean {
  const { making, queued, isStopped } = state;
  const next = queued?.options.isRefresh === true ? undefined : queued;
  return isStopped || (next !== undefined && next.snapshot.digest !== making?.snapshot.digest);
}

function ask<G extends RolloutGeneration, E extends RolloutEdit<G>>(state: RolloutState<G, E>, edit: E): Reduced<G, E> {
  const { live, queued } = state;
  const { isRefresh, replaces } = edit.options;
  if (isRefresh === true && live?.snapshot.digest === edit.snapshot.digest) {
    return { state, effects: [settle(edit, "unchanged", live.number, { isReported: false })] };
  }
  // An automatic rollback does not overtake an operator.
  if (replaces !== undefined && queued !== undefined) {
    return { state, effects: [settle(edit, "superseded", undefined, { isReported: false })] };
  }
  const effects: RolloutEffect<G, E>[] = [];
  if (queued !== undefined) effects.push(settle(queued, "superseded", undefined, { isReported: false }));
  const next = { ...state, queued: edit };
  if (next.making === undefined) return after(effects, takeNext(next));
  if (isOvertaken(next)) effects.push({ type: "overtake" });
  return { state: next, effects };
}

/** Takes the waiting edit until one has to be made. */
function takeNext<G extends RolloutGeneration, E extends RolloutEdit<G>>(state: RolloutState<G, E>): Reduced<G, E> {
  const { queued: edit, live, canary } = state;
  if (edit === undefined || state.making !== undefined) return { state, effects: [] };
  const next = { ...state, queued: undefined };
  if (state.isStopped || isLate(state, edit)) return { state: next, effects: [settle(edit, "superseded", undefined)] };
  if (isSame(live, edit)) {
    const effects = [settle(edit, "unchanged", live?.number, { isReported: edit.options.isRefresh !== true })];
    if (edit.options.isRefresh === true) return { state: next, effects };
    return before(endCanary(next, "returned", "what runs was applied again", true), effects);
  }
  if (isSame(canary, edit)) {
    if (edit.options.canary !== undefined) {
      return {
        state: next,
        effects: [settle(edit, "unchanged", canary?.number, { isReported: edit.options.isRefresh !== true })],
      };
    }
    const reason = "its contents were applied";
    return before(endCanary(next, "promoted", reason, false), [settle(edit, "promoted", canary?.number, { reason })]);
  }
  return { state: { ...next, making: edit }, effects: [{ type: "make", edit }] };
}

function built<G extends RolloutGeneration, E extends RolloutEdit<G>>(state: RolloutState<G, E>, generation: G): Reduced<G, E> {
  const { making: edit, live } = state;
  if (edit === undefined || state.isStopped || isLate(state, edit)) {
    return after(
      [{ type: "discard", generation }],
      leaveMaking(state, (one) => settle(one, "superseded", undefined)),
    );
  }
  const ended = endCanary(state, "returned", "another edit took its place", true);
  const { canary: plan, hasServed, isRefresh, reason } = edit.options;
  if (plan !== undefined && live !== undefined) {
    const next = leaveMaking({ ...ended.state, canary: generation }, (one) => settle(one, "canary", generation.number));
    return after([...ended.effects, { type: "begin-canary", generation, live, plan }], next);
  }
  const isJudged = hasServed !== true && isRefresh !== true;
  const effects: RolloutEffect<G, E>[] = [...ended.effects, { type: "serve", generation, previous: live, isJudged }];
  const draining = live === undefined ? ended.state.draining : [...ended.state.draining, live];
  if (live !== undefined) effects.push({ type: "drain", generation: live, timeoutOf: generation });
  const next = { ...ended.state, live: generation, draining };
  return after(
    effects,
    leaveMaking(next, (one) => settle(one, "applied", generation.number, { reason })),
  );
}

/** The candidate in the making is settled, and the waiting one is taken. */
function leaveMaking<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  result: (edit: E) => RolloutEffect<G, E>,
): Reduced<G, E> {
  const { making } = state;
  if (making === undefined) return { state, effects: [] };
  return after([result(making)], takeNext({ ...state, making: undefined }));
}

function endCanary<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  end: CanaryEnd,
  reason: string,
  isReported: boolean,
): Reduced<G, E> {
  const { canary, live } = state;
  if (canary === undefined || live === undefined) return { state, effects: [] };
  const leaving = end === "promoted" ? live : canary;
  const effects: RolloutEffect<G, E>[] = [{ type: "stop-canary" }];
  if (end === "promoted") effects.push({ type: "serve", generation: canary, previous: live, isJudged: false });
  effects.push({ type: "drain", generation: leaving, timeoutOf: leaving });
  effects.push({ type: "canary-ended", end, generation: canary, reason, isReported });
  const next = { ...state, live: end === "promoted" ? canary : live, canary: undefined };
  return { state: { ...next, draining: [...state.draining, leaving] }, effects };
}

function stop<G extends RolloutGeneration, E extends RolloutEdit<G>>(state: RolloutState<G, E>): Reduced<G, E> {
  const { live, canary } = state;
  const left = [canary, live].filter((one) => one !== undefined);
  const effects: RolloutEffect<G, E>[] = [{ type: "overtake" }];
  if (canary !== undefined) effects.push({ type: "stop-canary" });
  for (const generation of left) effects.push({ type: "drain", generation });
  const draining = [...state.draining, ...left];
  return { state: { ...state, live: undefined, canary: undefined, draining, isStopped: true }, effects };
}

/** Whether the generation that the edit was to replace no longer serves. A refresh of earlier contents would undo the edit since. */
function isLate<G extends RolloutGeneration>({ live }: { readonly live: G | undefined }, edit: RolloutEdit<G>): boolean {
  const { replaces, isRefresh = false } = edit.options;
  return (replaces !== undefined && live?.number !== replaces) || (isRefresh && live !== edit.live);
}

function isSame<G extends RolloutGeneration>(generation: G | undefined, { snapshot, options }: RolloutEdit<G>): boolean {
  if (generation?.snapshot.digest !== snapshot.digest) return false;
  return (options.number ?? generation.number) === generation.number;
}

function settle<E>(
  edit: E,
  outcome: ApplyOutcome,
  generation: number | undefined,
  { isReported = true, findings = [], reason }: Partial<Settled<E>> = {},
): Settled<E> {
  return { type: "settle", edit, outcome, generation, findings, reason, isReported };
}

function after<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  effects: readonly RolloutEffect<G, E>[],
  next: Reduced<G, E>,
): Reduced<G, E> {
  return { state: next.state, effects: [...effects, ...next.effects] };
}

function before<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  first: Reduced<G, E>,
  effects: readonly RolloutEffect<G, E>[],
): Reduced<G, E> {
  return { state: first.state, effects: [...first.effects, ...effects] };
}
