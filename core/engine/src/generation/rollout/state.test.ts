import { describe, expect, it } from "vitest";
import type { CanaryPlan } from "./canary.ts";
import { isOvertaken, reduce, type RolloutEdit, type RolloutEvent, type RolloutState, START } from "./state.ts";

interface Made {
  readonly number: number;
  readonly snapshot: { readonly digest: string };
}

type Edit = RolloutEdit<Made> & { readonly id: number };
type State = RolloutState<Made, Edit>;
type Event = RolloutEvent<Made, Edit>;

/** A walk through the rollout: the state, and what its effects have done so far. */
interface Walk {
  readonly state: State;
  readonly events: readonly string[];
  readonly asked: number;
  readonly settled: readonly number[];
  readonly made: readonly number[];
  readonly built: readonly Made[];
  /** Generations that drain or were discarded. */
  readonly left: readonly Made[];
  readonly numbers: number;
}

const MAX_EVENTS = 8;
const PLAN: CanaryPlan = { share: 0.1, forMs: 1_000, minRequests: 1, abortIf: { errorRate: 0.1, p99Ms: undefined } };

/** Every event that can happen in a state, by a name for the message of a failure. */
function eventsIn({ state, asked, numbers }: Walk): readonly (readonly [string, Event])[] {
  const options: readonly (readonly [string, Edit["options"]])[] = [
    ["edit", {}],
    ["canary", { canary: PLAN }],
    ["refresh", { isRefresh: true, hasServed: true }],
    ["automatic rollback", { replaces: state.live?.number ?? 0, hasServed: true }],
    ["late rollback", { replaces: 99 }],
    ["follow", { number: numbers + 1 }],
  ];
  const asks = options.flatMap(([name, how]) =>
    ["a", "b", "c"].map((digest) => {
      const edit: Edit = { id: asked, snapshot: { digest }, options: how, live: state.live };
      return [`${name} ${digest}`, { type: "asked", edit }] as const;
    }),
  );
  const { making } = state;
  const generation = { number: making?.options.number ?? numbers + 1, snapshot: { digest: making?.snapshot.digest ?? "" } };
  const results: readonly (readonly [string, Event])[] = [
    ["built", { type: "built", generation }],
    ["refused", { type: "failed", outcome: "refused", findings: [] }],
    ["threw", { type: "threw", error: new Error("no memory") }],
  ];
  return [
    ...asks,
    ...(making === undefined ? [] : results),
    ["promote", { type: "canary-ended", end: "promoted", reason: "asked" }],
    ["return", { type: "canary-ended", end: "returned", reason: "asked" }],
    ...state.draining.slice(0, 1).map((one) => ["drained", { type: "drained", generation: one }] as const),
    ["stop", { type: "stopped" }],
  ];
}

/** Takes an event, and holds its effects against the invariants. */
function step(walk: Walk, name: string, event: Event): Walk {
  const { state, effects } = reduce(walk.state, event);
  const events = [...walk.events, name];
  const check = (isKept: boolean, invariant: string): void => {
    if (!isKept) throw new Error(`${invariant}, after: ${events.join(", ")}`);
  };
  const [settled, made, left] = [[...walk.settled], [...walk.made], [...walk.left]];
  for (const effect of effects) {
    if (effect.type === "settle" || effect.type === "reject") {
      check(!settled.includes(effect.edit.id), "an edit is settled once");
      settled.push(effect.edit.id);
    } else if (effect.type === "make") {
      check(!walk.state.isStopped, "nothing is made after the stop");
      check(!made.includes(effect.edit.id), "an edit is made once");
      made.push(effect.edit.id);
    } else if (effect.type === "drain" || effect.type === "discard") {
      check(!left.includes(effect.generation), "a generation is left once");
      left.push(effect.generation);
    } else if (effect.type === "serve" || effect.type === "begin-canary") {
      check(!walk.state.isStopped, "nothing serves after the stop");
      check(!left.includes(effect.generation), "a generation that was left does not serve again");
    }
  }
  const asked = event.type === "asked" ? walk.asked + 1 : walk.asked;
  const numbers = event.type === "built" ? Math.max(walk.numbers, event.generation.number) : walk.numbers;
  const built = event.type === "built" ? [...walk.built, event.generation] : walk.built;
  const { live, canary, draining, making, queued, isStopped } = state;
  check(walk.state.live === undefined || isStopped === (live === undefined), "one generation is live until the stop");
  check(canary === undefined || (live !== undefined && canary !== live), "a canary runs beside a live generation");
  check(![live, canary].some((one) => one !== undefined && left.includes(one)), "what serves was not left");
  check(
    draining.every((one) => left.includes(one)),
    "what drains was left",
  );
  check(
    built.every((one) => one === live || one === canary || left.includes(one)),
    "a generation that was built serves or was left",
  );
  check(queued === undefined || making !== undefined, "a candidate waits only while another one is made");
  const open = [making?.id, queued?.id].filter((id) => id !== undefined);
  const all = [...settled, ...open].toSorted((a, b) => a - b);
  check(all.length === asked && all.every((id, index) => id === index), "each edit is made, waits or was settled once");
  return { state, events, asked, settled, made, built, left, numbers };
}

/** States are the same when the same events lead on alike: their generations and edits differ in names alone. */
function nameOf({ live, canary, draining, making, queued, isStopped }: State): string {
  const generation = (one: Made | undefined) => one?.snapshot.digest ?? null;
  const edit = (one: Edit | undefined) => {
    if (one === undefined) return null;
    const { isRefresh, canary: plan, replaces, number, hasServed } = one.options;
    const isOnTime = replaces === undefined || replaces === live?.number;
    return [one.snapshot.digest, isRefresh, plan !== undefined, isOnTime, number !== undefined, hasServed, one.live === live];
  };
  const isBusy = Math.min(draining.length, 2);
  return JSON.stringify([generation(live), generation(canary), isBusy, edit(making), edit(queued), isStopped]);
}

describe("the rollout", () => {
  it("keeps its invariants over every sequence of up to eight events from every reachable state", () => {
    let walks: readonly Walk[] = [{ state: START, events: [], asked: 0, settled: [], made: [], built: [], left: [], numbers: 0 }];
    const seen = new Set<string>([nameOf(START)]);
    let steps = 0;
    for (let depth = 0; depth < MAX_EVENTS; depth += 1) {
      const next: Walk[] = [];
      for (const walk of walks) {
        for (const [name, event] of eventsIn(walk)) {
          const reached = step(walk, name, event);
          steps += 1;
          const state = nameOf(reached.state);
          if (seen.has(state)) continue;
          seen.add(state);
          next.push(reached);
        }
      }
      walks = next;
    }
    // The model is not trivial: all kinds of states were reached, and each took every event.
    expect(seen.size).toBeGreaterThan(500);
    expect(steps).toBeGreaterThan(10_000);
  });

  it("overtakes a candidate by other contents, not by the same or by a refresh", () => {
    const edit = (id: number, digest: string, options: Edit["options"] = {}): Edit => ({
      id,
      snapshot: { digest },
      options,
      live: undefined,
    });
    const making: State = reduce<Made, Edit>(START, { type: "asked", edit: edit(0, "a") }).state;
    const overtaken = (next: Edit) => {
      const { state, effects } = reduce(making, { type: "asked", edit: next });
      return [isOvertaken(state), effects.some(({ type }) => type === "overtake")];
    };
    expect(overtaken(edit(1, "b"))).toEqual([true, true]);
    expect(overtaken(edit(1, "a"))).toEqual([false, false]);
    expect(overtaken(edit(1, "b", { isRefresh: true }))).toEqual([false, false]);
  });
});
