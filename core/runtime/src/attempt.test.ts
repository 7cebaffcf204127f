import { describe, expect, it } from "vitest";
import {
  type Attempt,
  type AttemptWriter,
  type Cost,
  GatewayError,
  type Usage,
} from "@sluice/contract";
import { openAttempt, writerOf } from "./attempt.ts";

type Mutable = { -readonly [Name in keyof AttemptWriter]: AttemptWriter[Name] };

/** A walk through an attempt: its state, and what an observer has counted so far. */
interface Walk {
  readonly attempt: AttemptWriter;
  readonly events: readonly string[];
}

const MAX_EVENTS = 8;
const FAILED = new GatewayError("upstream_failed", "The upstream failed.");
const GONE = new GatewayError("client_closed", "The client left.");
const LOST = new GatewayError("hedge_lost", "Another attempt answered first.");
const BLOCKED = new GatewayError("guardrail_violation", "A guardrail refused the reply.");
const USAGE: Usage = { promptTokens: 5, completionTokens: 5, totalTokens: 10 };
const CHEAP: Cost = { status: "priced", nanoUsd: 1 };
const DEAR: Cost = { status: "priced", nanoUsd: 2 };

/** Every event, with other arguments in a second call: a member that is written twice shows it. */
const EVENTS: readonly (readonly [string, (attempt: AttemptWriter) => void])[] = [
  ["sent", (attempt) => attempt.sent()],
  ["unbilled", (attempt) => attempt.unbilled()],
  ["first content", (attempt) => attempt.firstContent(10)],
  ["more content", (attempt) => attempt.firstContent(20)],
  ["report", (attempt) => attempt.report(USAGE)],
  ["hedge lost", (attempt) => attempt.interrupt(LOST)],
  ["withhold", (attempt) => attempt.withhold(BLOCKED)],
  ["succeed", (attempt) => attempt.succeed(30)],
  ["fail", (attempt) => attempt.fail(FAILED, 31)],
  ["cut", (attempt) => attempt.cut(GONE, 32)],
  ["close", (attempt) => attempt.close(GONE, 33)],
  ["doubt", (attempt) => attempt.doubt()],
  ["undercount", (attempt) => attempt.undercount()],
  ["estimate", (attempt) => attempt.estimate(USAGE)],
  ["charge", (attempt) => attempt.charge(CHEAP)],
  ["charge more", (attempt) => attempt.charge(DEAR)],
];

/** The invariants of one event, as `attempt.ts` numbers them. */
function broken(before: Attempt, after: Attempt): string | undefined {
  const wasOpen = before.outcome === undefined;
  const isWithheld =
    before.outcome === "success" && after.outcome === "partial" && after.error !== undefined;
  if (!wasOpen && after.outcome !== before.outcome && !isWithheld)
    return "1: an attempt has one outcome";
  if ((after.outcome === undefined) !== (after.endedAtMs === undefined))
    return "2: the outcome and the end are set together";
  if (!wasOpen && after.endedAtMs !== before.endedAtMs) return "2: an attempt ends once";
  const { outcome, error } = after;
  if ((outcome === "failure" || outcome === "partial") && error === undefined)
    return "3: a failure has an error";
  const reason = before.error;
  const isOwnFailure = wasOpen && outcome === "failure";
  if (reason !== undefined && error !== reason && !isOwnFailure)
    return "3: the first reason stands";
  const { firstContentAtMs: contentMs } = before;
  if (contentMs !== undefined && after.firstContentAtMs !== contentMs)
    return "4: the first content is recorded once";
  if (!wasOpen && after.firstContentAtMs !== contentMs) return "4: no content after the end";
  if (!wasOpen && after.isUnanswered !== before.isUnanswered)
    return "5: an ended attempt stays billed or unbilled";
  if (before.cost !== undefined && after.cost !== before.cost) return "6: a cost is charged once";
  if (after.cost !== undefined && outcome === undefined) return "6: an open attempt is not charged";
  const priced = [
    "outcome",
    "error",
    "usage",
    "usageSource",
    "suspectUsage",
    "firstContentAtMs",
    "isUnanswered",
  ] as const;
  const changed =
    before.cost === undefined ? undefined : priced.find((name) => after[name] !== before[name]);
  if (changed !== undefined) return `7: ${changed} does not change after the charge`;
  if (after.usage !== undefined && after.usageSource === undefined)
    return "8: a usage has a source";
  return undefined;
}

function copyOf(attempt: AttemptWriter): AttemptWriter {
  const copy = Object.create(Object.getPrototypeOf(attempt) as object) as AttemptWriter;
  return Object.assign(copy, attempt);
}

/** States are the same when all members that an invariant or a method reads are. */
function nameOf(attempt: Attempt): string {
  const {
    outcome,
    error,
    usage,
    usageSource,
    suspectUsage,
    firstContentAtMs,
    endedAtMs,
    isUnanswered,
    cost,
  } = attempt;
  const [code, tokens, suspect, nanoUsd] = [
    error?.code,
    usage?.totalTokens,
    suspectUsage?.totalTokens,
    cost?.nanoUsd,
  ];
  const times = [firstContentAtMs, endedAtMs];
  return [outcome, code, tokens, usageSource, suspect, times, isUnanswered, nanoUsd].join();
}

/**
 * Takes every event from every state that up to eight events reach. Throws at the first that breaks
 * an invariant.
 */
function explore(fault?: (attempt: Mutable) => void): {
  states: number;
  steps: number;
  outcomes: ReadonlySet<string>;
} {
  const start = openAttempt({
    number: 1,
    target: { id: "p/m", provider: "p", model: "m" },
    provider: "p",
    startedAtMs: 0,
  });
  fault?.(start);
  const seen = new Set<string>([nameOf(start)]);
  const outcomes = new Set<string>();
  let walks: readonly Walk[] = [{ attempt: start, events: [] }];
  let steps = 0;
  for (let depth = 0; depth < MAX_EVENTS; depth += 1) {
    const next: Walk[] = [];
    for (const { attempt, events } of walks) {
      for (const [name, event] of EVENTS) {
        const reached = copyOf(attempt);
        event(reached);
        steps += 1;
        const invariant = broken(attempt, reached);
        if (invariant !== undefined)
          throw new Error(`${invariant}, after: ${[...events, name].join(", ")}`);
        outcomes.add(`${reached.outcome}${reached.cost === undefined ? "" : " charged"}`);
        const state = nameOf(reached);
        if (seen.has(state)) continue;
        seen.add(state);
        next.push({ attempt: reached, events: [...events, name] });
      }
    }
    walks = next;
  }
  return { states: seen.size, steps, outcomes };
}

/** Faults of a method each, and the invariant that they break. */
const FAULTS: readonly (readonly [string, RegExp, (attempt: Mutable) => void])[] = [
  [
    "a second outcome replaces the first",
    /^1/,
    withMethod("fail", (at) =>
      Object.assign(at, { outcome: "failure", error: FAILED, endedAtMs: at.endedAtMs ?? 31 }),
    ),
  ],
  [
    "a success after a failure",
    /^1/,
    withMethod("succeed", (at) => Object.assign(at, { outcome: "success", endedAtMs: 30 })),
  ],
  [
    "an end without a time",
    /^2/,
    withMethod("cut", (at) => Object.assign(at, { outcome: at.outcome ?? "partial", error: GONE })),
  ],
  [
    "a later end",
    /^2/,
    withMethod("close", (at) =>
      Object.assign(at, { outcome: at.outcome ?? "failure", error: GONE, endedAtMs: 33 }),
    ),
  ],
  [
    "a failure without an error",
    /^3/,
    withMethod(
      "fail",
      (at) => at.outcome ?? Object.assign(at, { outcome: "failure", endedAtMs: 31 }),
    ),
  ],
  ["a later reason", /^3/, withMethod("interrupt", (at) => Object.assign(at, { error: LOST }))],
  [
    "a later first content",
    /^4/,
    withMethod(
      "firstContent",
      (at) => at.outcome ?? Object.assign(at, { firstContentAtMs: at.startedAtMs + Math.random() }),
    ),
  ],
  [
    "content after the end",
    /^4/,
    withMethod("firstContent", (at) =>
      Object.assign(at, { firstContentAtMs: at.firstContentAtMs ?? 10 }),
    ),
  ],
  [
    "a call that is sent after its end",
    /^5/,
    withMethod("sent", (at) => Object.assign(at, { isUnanswered: true })),
  ],
  [
    "a second charge",
    /^6/,
    withMethod("charge", (at, cost) =>
      at.outcome === undefined ? at : Object.assign(at, { cost }),
    ),
  ],
  [
    "a charge of an open attempt",
    /^6/,
    withMethod("charge", (at, cost) => Object.assign(at, { cost: at.cost ?? cost })),
  ],
  [
    "a report after the charge",
    /^7/,
    withMethod("report", (at, usage) => Object.assign(at, { usage, usageSource: "provider" })),
  ],
  [
    "an estimate after the charge",
    /^7/,
    withMethod("estimate", (at, usage) => Object.assign(at, { usage, usageSource: "estimated" })),
  ],
  [
    "a doubt after the charge",
    /^7/,
    withMethod("doubt", (at) => Object.assign(at, { suspectUsage: at.usage, usage: undefined })),
  ],
  [
    "a reply withheld after the charge",
    /^7/,
    withMethod("withhold", (at) =>
      at.outcome === "success"
        ? Object.assign(at, { outcome: "partial", error: at.error ?? BLOCKED })
        : at,
    ),
  ],
  [
    "a usage without a source",
    /^8/,
    withMethod("report", (at, usage) =>
      at.cost === undefined ? Object.assign(at, { usage }) : at,
    ),
  ],
];

/** A fault that replaces one method. */
function withMethod(
  name: keyof AttemptWriter,
  method: (attempt: AttemptWriter, argument: never) => unknown,
) {
  return (attempt: Mutable): void => {
    Object.assign(attempt, {
      [name](this: AttemptWriter, argument: never) {
        method(this, argument);
      },
    });
  };
}

describe("an attempt", () => {
  it("keeps its invariants over every sequence of up to eight events from every reachable state", () => {
    const { states, steps, outcomes } = explore();
    // The model is not trivial: every end is reached, open, ended and charged.
    expect([...outcomes].toSorted()).toEqual([
      "failure",
      "failure charged",
      "partial",
      "partial charged",
      "success",
      "success charged",
      "undefined",
    ]);
    expect(states).toBeGreaterThan(500);
    expect(steps).toBeGreaterThan(10_000);
  });

  it.each(FAULTS)("would not keep them with %s", (_fault, invariant, fault) => {
    expect(() => explore(fault)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(invariant) as string }),
    );
  });

  it("that was interrupted is partial, even though its reply was read in full", () => {
    const attempt = openAttempt({
      number: 1,
      target: { id: "p/m", provider: "p", model: "m" },
      provider: "p",
      startedAtMs: 0,
    });
    attempt.firstContent(1);
    attempt.interrupt(BLOCKED);
    attempt.succeed(2);
    expect([attempt.outcome, attempt.error]).toEqual(["partial", BLOCKED]);
  });

  it("is written by the runtime alone", () => {
    const attempt = openAttempt({
      number: 1,
      target: { id: "p/m", provider: "p", model: "m" },
      provider: "p",
      startedAtMs: 0,
    });
    expect(writerOf(attempt)).toBe(attempt);
    expect(() => writerOf({ ...attempt })).toThrow(TypeError);
  });
});
