/**
 * The rollout: which generation serves, which one is judged, which candidate is made, and which
 * generations drain. A pure state machine: `reduce` takes a state and an event, and returns the
 * next state and the effects that the manager carries out, in their order.
 *
 *    reading      asked                built                      drained
 *   (edit) ──► read ──► queued ──► making ──┬───────────► live ──► draining ──────► closed
 *                          │         │      │ as a canary  ▲ │        ▲
 *                          │         │      └───► canary ──┘ │        │
 *                          │         │               │ promoted      │
 *                          ▼         ▼               └───── returned ─┘
 *                      superseded  refused, superseded, unchanged
 *
 * One verdict ends each canary: of its requests, of its clock, of the operator or of all processes
 * together (`trials.ts`).
 *
 *   canary ──► voted (one of several processes) ──► promoted | returned
 *   live on trial, a canary of 100 % ──► fault ──► rollback ──► read ──► an edit that replaces this
 *   generation and no other
 *
 * A generation serves as live with its edit's contents. Contents other than the files hold them
 * back (`contents.ts`).
 *
 * Invariants, explored by `reduce.test.ts`:
 *
 *  1. One generation is live from the first one until the stop; it is neither the canary nor
 *     draining.
 *  2. One canary at most, beside a live generation. Each canary ends once: promoted, returned or by
 *     the stop.
 *  3. One candidate at most is made, and one waits. A candidate waits only while another one is
 *     made.
 *  4. Each edit is made, waits, or was settled exactly once. An applied edit is live, an edit that
 *     is a canary is the canary, and every other result is reported, unless a newer edit took the
 *     place of a waiting one, or nothing was new.
 *  5. A generation that was left, returned or discarded never serves again.
 *  6. Each generation that was built serves, drains or was discarded.
 *  7. After the stop nothing serves, nothing is made anew and nothing is rolled back.
 *  8. An automatic rollback leaves the live generation for one that served all keys, once for the
 *     same contents.
 *  9. One automatic rollback is under way at most. The process that decided it notifies the others
 *     once, after it was applied.
 * 10. The contents on record are those of the live generation. While a canary runs, it holds the
 *     files back.
 */

import { keepPin, leaveFiles, runs } from "./contents.ts";
import { after, before, settle } from "./effects.ts";
import type {
  Reduced,
  RolloutEdit,
  RolloutEffect,
  RolloutEvent,
  RolloutGeneration,
  RolloutState,
} from "./model.ts";
import { countVotes, endCanary, endRollback, fault, notice, verdict } from "./trials.ts";

/**
 * The state before the first edit of a process. `isOneOfSeveral`: several processes decide together
 * about canaries.
 */
export function startState(isOneOfSeveral = false) {
  return Object.freeze({
    live: undefined,
    canary: undefined,
    trial: undefined,
    rollback: undefined,
    failed: Object.freeze([]) as readonly never[],
    draining: Object.freeze([]) as readonly never[],
    readings: 0,
    queued: undefined,
    making: undefined,
    running: undefined,
    pinnedBy: undefined,
    isOneOfSeveral,
    isStopped: false,
  });
}

/** Takes an event. */
export function reduce<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  event: RolloutEvent<G, E>,
): Reduced<G, E> {
  return endRollback(transition(state, event));
}

function transition<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  event: RolloutEvent<G, E>,
): Reduced<G, E> {
  switch (event.type) {
    case "reading":
      return { state: { ...state, readings: state.readings + 1 }, effects: [] };
    case "read":
      return { state: { ...state, readings: Math.max(0, state.readings - 1) }, effects: [] };
    case "asked":
      return ask(state, event.edit);
    case "built":
      return built(state, event.generation);
    case "failed":
      return leaveMaking(state, (edit) =>
        settle(edit, event.outcome, undefined, { findings: event.findings }),
      );
    case "threw":
      return leaveMaking(state, (edit) => ({ type: "reject", edit, error: event.error }));
    case "verdict":
      return verdict(state, event.verdict);
    case "canary-ended":
      return endCanary(state, event.end, event.reason, true);
    case "votes-counted":
      return countVotes(state, event);
    case "fault":
      return fault(state, event.fault);
    case "noticed":
      return notice(state, event.notice);
    case "rollback-failed":
      return {
        state: state.rollback?.fault === event.fault ? { ...state, rollback: undefined } : state,
        effects: [],
      };
    case "drained":
      return {
        state: { ...state, draining: state.draining.filter((one) => one !== event.generation) },
        effects: [],
      };
    case "stopped":
      return stop(state);
  }
}

/**
 * Whether the candidate in the making has been overtaken: by an edit with other contents, or by the
 * stop. A refresh waits.
 */
export function isOvertaken<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
): boolean {
  const { making, queued, isStopped } = state;
  const next = queued?.options.isRefresh === true ? undefined : queued;
  return isStopped || (next !== undefined && next.snapshot.digest !== making?.snapshot.digest);
}

function ask<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  edit: E,
): Reduced<G, E> {
  const { live, queued } = state;
  const { isRefresh, replaces } = edit.options;
  if (isRefresh === true && live?.snapshot.digest === edit.snapshot.digest) {
    return {
      state: keepPin(state, edit),
      effects: [settle(edit, "unchanged", live.number, { isReported: false })],
    };
  }
  // An automatic rollback does not overtake an operator.
  if (replaces !== undefined && queued !== undefined) {
    return { state, effects: [settle(edit, "superseded", undefined, { isReported: false })] };
  }
  const effects: RolloutEffect<G, E>[] = [];
  if (queued !== undefined)
    effects.push(settle(queued, "superseded", undefined, { isReported: false }));
  const next = { ...state, queued: edit };
  if (next.making === undefined) return after(effects, takeNext(next));
  if (isOvertaken(next)) effects.push({ type: "overtake" });
  return { state: next, effects };
}

/** Takes the waiting edit until one has to be made. */
function takeNext<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
): Reduced<G, E> {
  const { queued: edit, live, canary } = state;
  if (edit === undefined || state.making !== undefined) return { state, effects: [] };
  const next = { ...state, queued: undefined };
  if (state.isStopped || isLate(state, edit))
    return { state: next, effects: [settle(edit, "superseded", undefined)] };
  const { isRefresh = false, canary: plan } = edit.options;
  if (isSame(live, edit)) {
    const effects = [settle(edit, "unchanged", live?.number, { isReported: !isRefresh })];
    if (isRefresh) return { state: keepPin(next, edit), effects };
    const { state: ended, effects: ends } = endCanary(
      next,
      "returned",
      "what runs was applied again",
      true,
    );
    return { state: runs(ended, edit), effects: [...ends, ...effects] };
  }
  if (isSame(canary?.generation, edit)) {
    const number = canary?.generation.number;
    if (plan !== undefined)
      return {
        state: next,
        effects: [settle(edit, "unchanged", number, { isReported: !isRefresh })],
      };
    const reason = "its contents were applied";
    return before(endCanary(next, "promoted", reason, false), [
      settle(edit, "promoted", number, { reason }),
    ]);
  }
  return { state: { ...next, making: edit }, effects: [{ type: "make", edit }] };
}

function built<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  generation: G,
): Reduced<G, E> {
  const { making: edit, live } = state;
  if (edit === undefined || state.isStopped || isLate(state, edit)) {
    return after(
      [{ type: "discard", generation }],
      leaveMaking(state, (one) => settle(one, "superseded", undefined)),
    );
  }
  const ended = endCanary(state, "returned", "another edit took its place", true);
  const { canary: plan } = edit.options;
  if (plan === undefined || live === undefined)
    return after(ended.effects, swap(ended.state, edit, generation));
  const next = leaveFiles({ ...ended.state, canary: { generation, edit, hasVoted: false } }, edit);
  return after(
    [...ended.effects, { type: "begin-canary", generation, live, plan }],
    leaveMaking(next, (one) => settle(one, "canary", generation.number)),
  );
}

/**
 * The candidate serves all keys. Contents that are new here are judged, beside those before them.
 */
function swap<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
  edit: E,
  generation: G,
): Reduced<G, E> {
  const { live: previous, failed } = state;
  const { hasServed, isRefresh, reason } = edit.options;
  const isNew =
    hasServed !== true && isRefresh !== true && !failed.includes(generation.snapshot.digest);
  const trial = isNew && previous !== undefined ? { generation, previous } : undefined;
  const effects: RolloutEffect<G, E>[] = [
    { type: "serve", generation, previous, isJudged: trial !== undefined },
  ];
  if (previous !== undefined)
    effects.push({ type: "drain", generation: previous, timeoutOf: generation });
  const draining = previous === undefined ? state.draining : [...state.draining, previous];
  const next = runs({ ...state, live: generation, trial, draining }, edit);
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

function stop<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: RolloutState<G, E>,
): Reduced<G, E> {
  const { live, canary } = state;
  const left = [canary?.generation, live].filter((one) => one !== undefined);
  const effects: RolloutEffect<G, E>[] = [{ type: "overtake" }];
  if (canary !== undefined) effects.push({ type: "stop-canary" });
  for (const generation of left) effects.push({ type: "drain", generation });
  const draining = [...state.draining, ...left];
  const ended = { live: undefined, canary: undefined, trial: undefined, rollback: undefined };
  return { state: { ...state, ...ended, draining, isStopped: true }, effects };
}

/**
 * Whether the generation that the edit was to replace no longer serves. A refresh of earlier
 * contents would undo the edit since.
 */
function isLate<G extends RolloutGeneration>(
  { live }: { readonly live: G | undefined },
  edit: RolloutEdit<G>,
): boolean {
  const { replaces, isRefresh = false } = edit.options;
  return (replaces !== undefined && live?.number !== replaces) || (isRefresh && live !== edit.live);
}

function isSame<G extends RolloutGeneration>(
  generation: G | undefined,
  { snapshot, options }: RolloutEdit<G>,
): boolean {
  if (generation?.snapshot.digest !== snapshot.digest) return false;
  return (options.number ?? generation.number) === generation.number;
}
