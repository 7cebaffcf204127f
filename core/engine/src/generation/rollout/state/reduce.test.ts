import { describe, expect, it } from "vitest";
import { amount } from "@sluice/testing";
import { type Edit, explore, type Made, type Reduce, type State } from "./explore.fixture.ts";
import { isOvertaken, reduce, startState } from "./reduce.ts";

/** The longest sequences of events. */
const MAX_EVENTS = amount(7, 8);
const EXPLORATION_TIMEOUT_MS = 120_000;

/** The reducer with a fault in the states or the effects that it returns. */
const faulty =
  (spoil: (reduced: ReturnType<Reduce>, before: State) => ReturnType<Reduce>): Reduce =>
  (state, event) =>
    spoil(reduce<Made, Edit>(state, event), state);

const without = (type: string): Reduce =>
  faulty(({ state, effects }) => ({
    state,
    effects: effects.filter((effect) => effect.type !== type),
  }));

const twice = (type: string): Reduce =>
  faulty(({ state, effects }) => ({
    state,
    effects: effects.flatMap((effect) => (effect.type === type ? [effect, effect] : [effect])),
  }));

const withState = (spoil: (state: State, before: State) => Partial<State>): Reduce =>
  faulty(({ state, effects }, before) => ({
    state: { ...state, ...spoil(state, before) },
    effects,
  }));

describe("the rollout", () => {
  it(
    `keeps its invariants over every sequence of up to ${MAX_EVENTS} events from every reachable state`,
    () => {
      const { states, steps, rollbacks } = explore(false, MAX_EVENTS);
      // The model is not trivial: all kinds of states were reached, and each took every event.
      expect(states).toBeGreaterThan(amount(8_000, 20_000));
      expect(steps).toBeGreaterThan(amount(100_000, 300_000));
      expect(rollbacks).toBeGreaterThan(0);
    },
    EXPLORATION_TIMEOUT_MS,
  );

  it(
    "keeps them in one of several processes, which differ in the verdicts of canaries alone",
    () => {
      expect(explore(true, 6).states).toBeGreaterThan(4_000);
    },
    EXPLORATION_TIMEOUT_MS,
  );

  it.each<[string, string, Reduce]>([
    ["loses the end of a canary", "a canary ends once", without("canary-ended")],
    ["ends a canary twice", "a canary ends once", twice("canary-ended")],
    ["loses a result", "each edit is made, waits or was settled once", without("settle")],
    ["settles twice", "an edit is settled once", twice("settle")],
    ["leaves no old generation", "what drains was left", without("drain")],
    ["notifies nothing", "a rollback that was applied is notified, once", without("notify")],
    ["notifies twice", "a rollback that was applied is notified, once", twice("notify")],
    ["rolls back twice at one fault", "contents fail once", twice("roll-back")],
    ["votes twice", "a process votes once", twice("vote")],
    [
      "votes again at the next verdict",
      "a process votes once",
      withState(({ canary }) => ({ canary: canary && { ...canary, hasVoted: false } })),
    ],
    [
      "forgets what failed",
      "contents that failed are not judged again",
      withState(() => ({ failed: [] })),
    ],
    [
      "rolls back to the generation that fails",
      "a rollback goes to another generation",
      withState(({ trial }) => ({ trial: trial && { ...trial, previous: trial.generation } })),
    ],
    [
      "judges a generation that is not live",
      "what is judged is live",
      withState(({ trial }, before) => ({ trial: trial ?? before.trial })),
    ],
    [
      "keeps a rollback after its edit",
      "a rollback ends with its edit",
      withState(({ rollback }, before) => ({ rollback: rollback ?? before.rollback })),
    ],
    [
      "rolls back over an edit that is read",
      "a rollback does not overtake an edit",
      (state, event) => {
        const { state: next, effects } = reduce<Made, Edit>({ ...state, readings: 0 }, event);
        return {
          state: {
            ...next,
            readings: Math.max(next.readings, event.type === "read" ? 0 : state.readings),
          },
          effects,
        };
      },
    ],
    [
      "lets files overtake a canary",
      "a canary holds the files back",
      withState(({ canary }) => (canary === undefined ? {} : { pinnedBy: undefined })),
    ],
    [
      "keeps the earlier contents on record",
      "the contents on record are the live ones",
      withState(({ running }, before) => {
        const kept = before.running ?? running;
        return { running: kept, pinnedBy: kept?.isPinned === true ? kept : undefined };
      }),
    ],
    [
      "hides a refusal",
      "a result is reported",
      faulty(({ state, effects }) => ({
        state,
        effects: effects.map((effect) =>
          effect.type === "settle" ? { ...effect, isReported: false } : effect,
        ),
      })),
    ],
  ])("that %s breaks an invariant", (_name, invariant, take) => {
    const run = () => [explore(true, 7, take), explore(false, 7, take)];
    expect(run).toThrow(invariant);
  });

  it("overtakes a candidate by other contents, not by the same or by a refresh", () => {
    const edit = (id: number, digest: string, options: Edit["options"] = {}): Edit => ({
      id,
      snapshot: { digest },
      options,
      live: undefined,
    });
    const making: State = reduce<Made, Edit>(startState(), {
      type: "asked",
      edit: edit(0, "a"),
    }).state;
    const overtaken = (next: Edit) => {
      const { state, effects } = reduce(making, { type: "asked", edit: next });
      return [isOvertaken(state), effects.some(({ type }) => type === "overtake")];
    };
    expect(overtaken(edit(1, "b"))).toEqual([true, true]);
    expect(overtaken(edit(1, "a"))).toEqual([false, false]);
    expect(overtaken(edit(1, "b", { isRefresh: true }))).toEqual([false, false]);
  });
});
