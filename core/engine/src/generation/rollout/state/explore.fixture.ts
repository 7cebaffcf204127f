/**
 * Walks through the rollout: every event that can happen in a state, and the invariants that each
 * step keeps.
 */

import type { CanaryPlan } from "../canary/canary.ts";
import type {
  RolloutContents,
  RolloutEdit,
  RolloutEffect,
  RolloutEvent,
  RolloutState,
} from "./model.ts";
import { reduce, startState } from "./reduce.ts";

export interface Made {
  readonly number: number;
  readonly snapshot: { readonly digest: string };
}

type Contents = RolloutContents & { readonly digest: string };
export type Edit = RolloutEdit<Made> & {
  readonly id: number;
  readonly options: RolloutEdit<Made>["options"] & { readonly contents?: Contents };
};
export type State = RolloutState<Made, Edit>;
type Event = RolloutEvent<Made, Edit>;
type Effect = RolloutEffect<Made, Edit>;

/** The reducer under test. A fault can be put in its place. */
export type Reduce = (
  state: State,
  event: Event,
) => { readonly state: State; readonly effects: readonly Effect[] };

/** A walk: the state, and what its effects have done so far. */
interface Walk {
  readonly state: State;
  readonly events: readonly string[];
  readonly asked: number;
  readonly settled: readonly number[];
  readonly made: readonly number[];
  readonly built: readonly Made[];
  /** Generations that drain or were discarded. */
  readonly left: readonly Made[];
  /** Generations that served all keys. */
  readonly served: readonly Made[];
  readonly canaries: readonly { readonly generation: Made; ends: number; votes: number }[];
  /** Digests that automatic rollbacks of this process left. */
  readonly rolledBack: readonly string[];
  /**
   * Automatic rollbacks that were decided here, applied, and not notified yet; and all that were
   * decided here.
   */
  readonly rollbacks: {
    readonly decided: number;
    readonly applied: number;
    readonly notified: number;
  };
}

const PLAN: CanaryPlan = {
  share: 0.1,
  forMs: 1_000,
  minRequests: 1,
  abortIf: { errorRate: 0.1, p99Ms: undefined },
};
const DIGESTS = ["a", "b", "c"] as const;
const MAX_READINGS = 1;

function start(isOneOfSeveral: boolean): Walk {
  const none = {
    asked: 0,
    settled: [],
    made: [],
    built: [],
    left: [],
    served: [],
    canaries: [],
    rolledBack: [],
  };
  return {
    state: startState(isOneOfSeveral),
    events: [],
    ...none,
    rollbacks: { decided: 0, applied: 0, notified: 0 },
  };
}

/** Edits that can be asked for, by a name for the message of a failure. */
function edits({ state, asked, built }: Walk): readonly (readonly [string, Event])[] {
  const { live, rollback } = state;
  const ways: readonly (readonly [string, Edit["options"], isPinned: boolean])[] = [
    ["edit", {}, false],
    ["canary", { canary: PLAN }, false],
    ["rollback", { hasServed: true }, true],
    ["refresh", { isRefresh: true, hasServed: true }, true],
    ["late rollback", { replaces: 99 }, true],
    ["follow", { number: nextNumber(built) }, false],
    ...(rollback === undefined
      ? []
      : [
          [
            "automatic rollback",
            { replaces: rollback.fault.generation, hasServed: true },
            true,
          ] as const,
        ]),
  ];
  return ways.flatMap(([name, how, isPinned]) =>
    digestsIn(state).map((digest) => {
      const options = { ...how, contents: { digest, isPinned } };
      return [
        `${name} ${digest}`,
        { type: "asked", edit: { id: asked, snapshot: { digest }, options, live } },
      ] as const;
    }),
  );
}

/** Contents that the state knows, and one kind of new ones: the others behave like them. */
function digestsIn({ live, canary, making, queued, failed }: State): readonly string[] {
  const known = [live, canary?.generation, making, queued].flatMap(
    (one) => one?.snapshot.digest ?? [],
  );
  const unknown = DIGESTS.find((digest) => !known.includes(digest) && !failed.includes(digest));
  return DIGESTS.filter(
    (digest) => known.includes(digest) || failed.includes(digest) || digest === unknown,
  );
}

function nextNumber(built: readonly Made[]): number {
  return Math.max(0, ...built.map(({ number }) => number)) + 1;
}

/** Every event that can happen in a state. */
function eventsIn(walk: Walk): readonly (readonly [string, Event])[] {
  const { state, built, served } = walk;
  const { making, live, canary, trial, rollback } = state;
  const digest = making?.snapshot.digest ?? "";
  const results: readonly (readonly [string, Event])[] = [
    [
      "built",
      {
        type: "built",
        generation: { number: making?.options.number ?? nextNumber(built), snapshot: { digest } },
      },
    ],
    ["refused", { type: "failed", outcome: "refused", findings: [] }],
    ["threw", { type: "threw", error: new Error("no memory") }],
  ];
  const seen = canary?.generation.snapshot.digest ?? "none";
  const vote = (kind: "fault" | "time", name: string): readonly [string, Event] => [
    `${kind} of ${name}`,
    {
      type: "verdict",
      verdict: {
        digest: name === "canary" ? seen : name,
        kind,
        reason: kind,
        requests: 1,
        minRequests: 1,
      },
    },
  ];
  const fault = {
    generation: live?.number ?? 0,
    previous: trial?.previous.number ?? 0,
    reason: "failures",
  };
  const previous = served.findLast((one) => one !== live)?.number ?? 0;
  return [
    ...edits(walk),
    ...(making === undefined ? [] : results),
    vote("fault", "canary"),
    vote("time", "canary"),
    vote("fault", "z"),
    ["promote", { type: "canary-ended", end: "promoted", reason: "asked" }],
    ["return", { type: "canary-ended", end: "returned", reason: "asked" }],
    ["all promote", { type: "votes-counted", digest: seen, end: "promoted", reason: "votes" }],
    ["all return", { type: "votes-counted", digest: seen, end: "returned", reason: "votes" }],
    ["fault", { type: "fault", fault }],
    ["late fault", { type: "fault", fault: { ...fault, generation: 99 } }],
    ...[live?.snapshot.digest ?? "none", "z"].map(
      (one) =>
        [
          `notice ${one}`,
          { type: "noticed", notice: { digest: one, previous, reason: "" } },
        ] as const,
    ),
    ...(rollback === undefined
      ? []
      : [["rollback failed", { type: "rollback-failed", fault: rollback.fault }] as const]),
    ["other rollback failed", { type: "rollback-failed", fault: { ...fault } }],
    ...(state.readings < MAX_READINGS
      ? [["reading", { type: "reading" }] as const]
      : [["read", { type: "read" }] as const]),
    ...state.draining
      .slice(0, 1)
      .map((one) => ["drained", { type: "drained", generation: one }] as const),
    ["stop", { type: "stopped" }],
  ];
}

/** Takes an event, and holds its effects against the invariants. */
function step(walk: Walk, [name, event]: readonly [string, Event], take: Reduce): Walk {
  const { state, effects } = take(walk.state, event);
  const events = [...walk.events, name];
  const check = (isKept: boolean, invariant: string): void => {
    if (!isKept) throw new Error(`${invariant}, after: ${events.join(", ")}`);
  };
  const [settled, made, left, served] = [
    [...walk.settled],
    [...walk.made],
    [...walk.left],
    [...walk.served],
  ];
  const canaries = walk.canaries.map((one) => ({ ...one }));
  const rolledBack = [...walk.rolledBack];
  const rollbacks = { ...walk.rollbacks };
  const canaryOf = (generation: Made | undefined) =>
    canaries.find((one) => one.generation === generation);
  for (const effect of effects) {
    if (effect.type === "settle" || effect.type === "reject") {
      check(!settled.includes(effect.edit.id), "an edit is settled once");
      settled.push(effect.edit.id);
      if (effect.type === "settle") checkResult(effect, served, canaries, check);
      const { rollback } = walk.state;
      const isItsEdit =
        effect.edit.options.replaces === rollback?.fault.generation && rollback !== undefined;
      if (isItsEdit) check(state.rollback === undefined, "a rollback ends with its edit");
      if (isItsEdit && rollback.isOwn && effect.type === "settle" && effect.outcome === "applied")
        rollbacks.applied += 1;
    } else if (effect.type === "make") {
      check(!walk.state.isStopped, "nothing is made after the stop");
      check(!made.includes(effect.edit.id), "an edit is made once");
      check(isOnTime(effect.edit, state.live), "a late edit is not made");
      made.push(effect.edit.id);
    } else if (effect.type === "drain" || effect.type === "discard") {
      check(!left.includes(effect.generation), "a generation is left once");
      check(
        effect.type === "discard" || state.draining.includes(effect.generation),
        "what is left drains",
      );
      left.push(effect.generation);
    } else if (effect.type === "serve" || effect.type === "begin-canary") {
      check(!walk.state.isStopped, "nothing serves after the stop");
      check(!left.includes(effect.generation), "a generation that was left does not serve again");
      if (effect.type === "begin-canary")
        canaries.push({ generation: effect.generation, ends: 0, votes: 0 });
      else served.push(effect.generation);
      const { making } = walk.state;
      if (
        event.type === "built" &&
        effect.generation === event.generation &&
        making !== undefined
      ) {
        check(isOnTime(making, walk.state.live), "a late edit does not serve");
      }
      if (effect.type === "serve" && effect.isJudged) {
        check(
          state.trial?.generation === effect.generation,
          "a generation that is judged is on trial",
        );
        check(
          !rolledBack.includes(effect.generation.snapshot.digest),
          "contents that failed are not judged again",
        );
      }
    } else if (effect.type === "canary-ended") {
      const canary = canaryOf(effect.generation);
      check(canary !== undefined, "a canary that ends has begun");
      check(
        effect.edit.snapshot.digest === effect.generation.snapshot.digest,
        "a canary ends with its own edit",
      );
      if (canary !== undefined) canary.ends += 1;
    } else if (effect.type === "vote") {
      const canary = canaryOf(walk.state.canary?.generation);
      check(
        canary !== undefined && walk.state.isOneOfSeveral,
        "a vote is one of several, about a canary",
      );
      if (canary !== undefined) canary.votes += 1;
    } else if (effect.type === "roll-back") {
      check(!walk.state.isStopped, "nothing is rolled back after the stop");
      check(walk.state.rollback === undefined, "one rollback is under way");
      check(
        walk.state.making === undefined && walk.state.readings === 0,
        "a rollback does not overtake an edit",
      );
      check(
        effect.fault.generation === walk.state.live?.number,
        "a rollback leaves the live generation",
      );
      check(
        effect.fault.previous !== effect.fault.generation,
        "a rollback goes to another generation",
      );
      if (event.type === "fault") {
        const digest = walk.state.live?.snapshot.digest ?? "";
        check(!rolledBack.includes(digest), "contents fail once");
        check(
          served.some(({ number }) => number === effect.fault.previous),
          "a rollback goes to a generation that served",
        );
        rollbacks.decided += 1;
        rolledBack.push(digest);
      }
    } else if (effect.type === "notify") {
      rollbacks.notified += 1;
    }
  }
  const asked = event.type === "asked" ? walk.asked + 1 : walk.asked;
  const built = event.type === "built" ? [...walk.built, event.generation] : walk.built;
  const next = {
    state,
    events,
    asked,
    settled,
    made,
    built,
    left,
    served,
    canaries,
    rolledBack,
    rollbacks,
  };
  checkState(walk.state, next, check);
  if (
    event.type === "asked" &&
    event.edit.options.replaces !== undefined &&
    walk.state.queued !== undefined
  ) {
    check(
      state.queued === walk.state.queued,
      "an automatic rollback does not take the place of an edit",
    );
  }
  if (event.type === "noticed" && event.notice.digest !== walk.state.live?.snapshot.digest) {
    check(effects.length === 0, "a notice about other contents does nothing");
  }
  if (
    event.type === "verdict" &&
    event.verdict.digest !== walk.state.canary?.generation.snapshot.digest
  ) {
    check(effects.length === 0, "a verdict on another canary does nothing");
  }
  const isQuiet = effects.some(
    (one) =>
      one.type === "settle" && one.outcome === "unchanged" && one.edit.options.isRefresh === true,
  );
  if (isQuiet && event.type !== "built") {
    check(
      !effects.some(({ type }) => type === "canary-ended"),
      "a refresh without changes ends no canary",
    );
  }
  if (event.type === "rollback-failed" && event.fault !== walk.state.rollback?.fault) {
    check(state.rollback === walk.state.rollback, "a rollback ends by its own failure");
  }
  return next;
}

/** Whether an edit meets the generation that it was to replace, or to renew. */
function isOnTime({ options, live: renewed }: Edit, live: Made | undefined): boolean {
  const { replaces, isRefresh } = options;
  return (
    (replaces === undefined || replaces === live?.number) &&
    (isRefresh !== true || renewed === live)
  );
}

type Check = (isKept: boolean, invariant: string) => void;

/** An applied edit has become live, a canary has begun, and other results are reported. */
function checkResult(
  { outcome, edit, isReported, generation }: Extract<Effect, { readonly type: "settle" }>,
  served: readonly Made[],
  canaries: Walk["canaries"],
  check: Check,
): void {
  const isOf = (one: Made | undefined) =>
    one?.number === generation && one?.snapshot.digest === edit.snapshot.digest;
  if (outcome === "applied" || outcome === "promoted")
    check(isOf(served.at(-1)), "an applied edit is live");
  if (outcome === "canary") check(isOf(canaries.at(-1)?.generation), "a canary has begun");
  if (!isReported) {
    const isQuiet =
      outcome === "superseded" || (outcome === "unchanged" && edit.options.isRefresh === true);
    check(isQuiet, "a result is reported");
  }
}

function checkState(before: State, walk: Walk, check: Check): void {
  const { settled, asked, built, left, canaries, rollbacks, served } = walk;
  const { live, canary, trial, draining, making, queued, isStopped, running, pinnedBy, readings } =
    walk.state;
  check(
    before.live === undefined || isStopped === (live === undefined),
    "one generation is live until the stop",
  );
  check(
    canary === undefined || (live !== undefined && canary.generation !== live),
    "a canary runs beside a live generation",
  );
  check(
    ![live, canary?.generation].some((one) => one !== undefined && left.includes(one)),
    "what serves was not left",
  );
  check(
    draining.every((one) => left.includes(one)),
    "what drains was left",
  );
  check(
    built.every((one) => one === live || one === canary?.generation || left.includes(one)),
    "a generation that was built serves or was left",
  );
  check(
    queued === undefined || making !== undefined,
    "a candidate waits only while another one is made",
  );
  const open = [making?.id, queued?.id].filter((id) => id !== undefined);
  const all = [...settled, ...open].toSorted((a, b) => a - b);
  check(
    all.length === asked && all.every((id, index) => id === index),
    "each edit is made, waits or was settled once",
  );
  for (const { generation, ends, votes } of canaries) {
    const isOpen = generation === canary?.generation || isStopped;
    check(ends === 1 || (ends === 0 && isOpen), "a canary ends once");
    check(votes <= 1, "a process votes once");
  }
  check(
    trial === undefined || (trial.generation === live && served.includes(trial.previous)),
    "what is judged is live",
  );
  check(rollbacks.notified === rollbacks.applied, "a rollback that was applied is notified, once");
  check(
    rollbacks.applied <= rollbacks.decided,
    "a rollback that was not decided here is not notified",
  );
  check(!isStopped || walk.state.rollback === undefined, "no rollback is under way after the stop");
  check(
    live === undefined || running?.digest === live.snapshot.digest,
    "the contents on record are the live ones",
  );
  check(
    canary === undefined || pinnedBy === canary.edit.options.contents,
    "a canary holds the files back",
  );
  const isOfRunning = pinnedBy === undefined || pinnedBy === running;
  check(
    !isOfRunning ||
      canary !== undefined ||
      running === undefined ||
      running.isPinned === (pinnedBy === running),
    "a pin stays",
  );
  check(readings >= 0, "a reading ends after it began");
}

/**
 * States are the same when the same events lead on alike: generations, edits and contents differ in
 * names alone.
 */
function nameOf({ state, served, canaries, rolledBack }: Walk): string {
  const {
    live,
    canary,
    trial,
    rollback,
    failed,
    draining,
    readings,
    making,
    queued,
    running,
    pinnedBy,
    isStopped,
  } = state;
  const digests: string[] = [];
  const contents = (digest: string | undefined) => {
    if (digest === undefined) return "-";
    if (!digests.includes(digest)) digests.push(digest);
    return `${digests.indexOf(digest)}${failed.includes(digest) ? "!" : ""}${rolledBack.includes(digest) ? "?" : ""}`;
  };
  const edit = (one: Edit | undefined) => {
    if (one === undefined) return "-";
    const { isRefresh, canary: plan, replaces, number, hasServed } = one.options;
    const isOfRollback = rollback !== undefined && replaces === rollback.fault.generation;
    const how = [
      isRefresh,
      plan,
      replaces === undefined || replaces === live?.number,
      isOfRollback,
      number,
      hasServed,
    ];
    const flags = [...how, one.options.contents?.isPinned, one.live === live].map((flag) =>
      flag === undefined || flag === false ? 0 : 1,
    );
    return contents(one.snapshot.digest) + flags.join("");
  };
  const pin = pinnedBy === undefined ? "files" : pinnedBy === running ? "running" : "canary";
  const parts = [
    contents(live?.snapshot.digest),
    contents(canary?.generation.snapshot.digest),
    edit(making),
    edit(queued),
  ];
  const others = failed.filter(
    (one, index) => !digests.includes(one) && failed.indexOf(one) === index,
  ).length;
  const flags = [
    canary?.hasVoted,
    canary && canaries.at(-1)?.votes,
    trial !== undefined,
    rollback?.isOwn,
    rollback?.fault.generation === live?.number,
  ];
  return [
    ...parts,
    others,
    ...flags,
    Math.min(draining.length, 1),
    Math.min(served.length, 2),
    readings,
    pin,
    isStopped,
  ].join(" ");
}

/**
 * Walks every sequence of so many events, from every state that is reached. Throws at the first
 * broken invariant. `rollbacks`: notified ones.
 */
export function explore(isOneOfSeveral: boolean, maxEvents: number, take: Reduce = reduce) {
  const first = start(isOneOfSeveral);
  let walks: readonly Walk[] = [first];
  const seen = new Set<string>([nameOf(first)]);
  let [steps, rollbacks] = [0, 0];
  for (let depth = 0; depth < maxEvents; depth += 1) {
    const next: Walk[] = [];
    for (const walk of walks) {
      for (const event of eventsIn(walk)) {
        const reached = step(walk, event, take);
        steps += 1;
        rollbacks += reached.rollbacks.notified - walk.rollbacks.notified;
        const name = nameOf(reached);
        if (seen.has(name)) continue;
        seen.add(name);
        next.push(reached);
      }
    }
    walks = next;
  }
  return { states: seen.size, steps, rollbacks };
}
