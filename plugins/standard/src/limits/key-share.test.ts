import { describe, expect, it } from "vitest";
import type { Claim, ClaimState } from "@sluice/contract";
import { fakeClock, fakeHost } from "@sluice/testing";
import { OpenReservations as Open } from "./key-share.ts";
import {
  type BudgetRule,
  claimOf,
  type Rule,
  rate,
  slot,
  type SlotRule,
  subjectOf,
  withKeyParts,
} from "./rules/rule.ts";

const BELONGING = { keyId: "a", userId: undefined, teamId: "t" };
const TEAM: BudgetRule = {
  ...subjectOf("team", "t", BELONGING),
  kind: "budget",
  key: "budget:team:t",
  limitNanoUsd: 1_000,
  softNanoUsd: undefined,
  period: { startMs: 0, endMs: null },
  rows: { fromMs: 0 },
  moreRows: undefined,
  importedNanoUsd: 0,
  provider: undefined,
  models: undefined,
  gauge: undefined,
  use: undefined,
};
const OWN: BudgetRule = { ...TEAM, ...subjectOf("key", "a", BELONGING), key: "budget:key:a" };
const WINDOW = rate(subjectOf("model", "m", BELONGING), "model:m", "tokens", 1_000, 60_000);

const money = (rule: Rule, amount: number): readonly [readonly Rule[], readonly Claim[]] => [
  [rule],
  [claimOf(rule, 0, amount)],
];
const tokens = (amount: number): readonly [readonly Rule[], readonly Claim[]] => [
  [WINDOW],
  [claimOf(WINDOW, amount, 0)],
];

/** The part of a key in a team's limit. */
const partOf = (keyId: string, limit: number): SlotRule =>
  withKeyParts([slot(subjectOf("team", "t", BELONGING), "team:t", limit)], keyId)[0] as SlotRule;

/** Reserves what is all uncertain, and says what was too much. */
class OpenReservations extends Open {
  reserve(keyId: string, rules: readonly Rule[], claims: readonly Claim[], uncertain = Infinity) {
    const result = this.take(keyId, rules, claims, () => uncertain);
    return "over" in result ? result.over : undefined;
  }
}

function make(share = "25%") {
  const clock = fakeClock();
  return { clock, open: new OpenReservations(share, fakeHost({ clock })) };
}

describe("open reservations", () => {
  it("leave a key that is alone all of a limit, and a share of it once another has come", () => {
    const { open, clock } = make();
    expect(open.reserve("a", ...money(TEAM, 900))).toBeUndefined();
    open.giveBack("a", [TEAM], [900]);
    expect(open.reserve("b", ...money(TEAM, 100))).toBeUndefined();
    expect(open.reserve("a", ...money(TEAM, 900))).toMatchObject({ rule: TEAM, open: 0, max: 250 });
    expect(open.reserve("a", ...money(TEAM, 200))).toBeUndefined();
    expect(open.reserve("a", ...money(TEAM, 51))).toMatchObject({ open: 200, max: 250 });
    open.giveBack("a", [TEAM], [200]);
    expect(open.reserve("a", ...money(TEAM, 250))).toBeUndefined();
    clock.advance(60_001);
    expect(open.reserve("a", ...money(TEAM, 700))).toBeUndefined();
  });

  it("leave half of the concurrent requests of a team to its other keys, and one to each key", () => {
    for (const [limit, alone, beside] of [
      [1, 1, 1],
      [2, 2, 1],
      [4, 3, 2],
      [5, 4, 3],
      [16, 14, 8],
    ] as const) {
      const { open, clock } = make();
      const part = partOf("a", limit);
      expect(open.slots("a", part)).toBe(alone);
      open.slots("b", partOf("b", limit));
      expect(open.slots("a", part)).toBe(beside);
      clock.advance(60_001);
      expect(open.slots("a", part)).toBe(alone);
    }
  });

  it("learn from the slots in use which limits keys of other processes use", () => {
    const { open } = make();
    const part = partOf("a", 8);
    const rules: readonly Rule[] = [part, part.partOf!];
    const states = (own: number, all: number): ClaimState[] => [
      { limit: 7, remaining: 7 - own, resetMs: undefined },
      { limit: 8, remaining: 8 - all, resetMs: undefined },
    ];
    expect(open.slots("a", part)).toBe(7);
    open.learn(rules, states(3, 3));
    expect(open.slots("a", part)).toBe(7);
    open.learn(rules, states(3, 4));
    expect(open.slots("a", part)).toBe(4);
  });

  it("do not bound what is one key's own, nor where the share is all", () => {
    const { open } = make();
    open.reserve("b", ...money(OWN, 1));
    expect(open.reserve("a", ...money(OWN, 1_000))).toBeUndefined();
    const { open: unbound } = make("100%");
    unbound.reserve("b", ...money(TEAM, 1));
    expect(unbound.reserve("a", ...money(TEAM, 1_000))).toBeUndefined();
  });

  it("let the first prompt through a window however long it is, and no second one", () => {
    const { open } = make();
    open.reserve("b", ...tokens(10));
    expect(open.left("a", WINDOW)).toBe(250);
    expect(open.reserve("a", ...tokens(600))).toBeUndefined();
    expect([open.left("a", WINDOW), open.left("b", WINDOW)]).toEqual([0, 240]);
    expect(open.reserve("a", ...tokens(1))).toMatchObject({ open: 600 });
  });

  it("need not fit what a request costs in any case", () => {
    const { open } = make();
    open.reserve("b", ...money(TEAM, 1));
    expect(open.reserve("a", ...money(TEAM, 500), 200)).toBeUndefined();
    expect(open.left("a", TEAM)).toBe(50);
    expect(open.reserve("a", ...money(TEAM, 500), 0)).toBeUndefined();
    expect(open.reserve("a", ...money(TEAM, 500), 51)).toMatchObject({ open: 200 });
  });

  it("count all claims of a reservation or none", () => {
    const { open } = make();
    open.reserve("b", ...money(TEAM, 1));
    open.reserve("b", ...tokens(1));
    const rules: readonly Rule[] = [WINDOW, TEAM];
    expect(
      open.reserve("a", rules, [claimOf(WINDOW, 100, 0), claimOf(TEAM, 0, 900)]),
    ).toMatchObject({ rule: TEAM });
    expect(open.left("a", WINDOW)).toBe(250);
  });
});
