import { describe, expect, it } from "vitest";
import { holderOf } from "@sluice/kit/internals";
import { fakeClock, fakeTarget } from "@sluice/testing";
import { chooseMember, type ChoiceParts, type Member } from "./strategies.ts";
import { Deployment } from "../deployments/deployment.ts";
import { Latency } from "../deployments/latency.ts";

const PICKS = 10_000;
const clock = fakeClock();
const latencies = new Map<Member, Latency>();
const at = (nowMs: number, key = "a"): ChoiceParts => ({
  stickyKey: undefined,
  latencyOf: (member) => latencies.get(member)?.faded(nowMs, key),
});
const NOW = at(0);

function observe(member: Member, ms: number, nowMs = 0, key = "a"): void {
  const latency = latencies.get(member) ?? new Latency();
  latencies.set(member, latency);
  latency.observe(ms, key, nowMs);
}

function memberOf(name: string, parts: Partial<Member> = {}): Member {
  return {
    deployment: new Deployment(fakeTarget(name), clock),
    weight: 1,
    priority: 0,
    cost: Infinity,
    turn: 0,
    ...parts,
  };
}

/** The share of each member, in their order. */
function shares(members: readonly Member[], pick: (turn: number) => Member): number[] {
  const counts = new Map(members.map((member) => [member, 0]));
  for (let turn = 0; turn < PICKS; turn += 1) {
    const member = pick(turn);
    counts.set(member, (counts.get(member) ?? 0) + 1);
  }
  return members.map((member) => (counts.get(member) ?? 0) / PICKS);
}

/** The largest difference between two lists of shares. */
function difference(found: readonly number[], wanted: readonly number[]): number {
  return Math.max(...wanted.map((share, index) => Math.abs((found[index] ?? 0) - share)));
}

describe("the strategies", () => {
  it("weighted: shares are the weights, and the heavy one is spread over the turns", () => {
    const members = [memberOf("a", { weight: 5 }), memberOf("b"), memberOf("c")];
    const order = Array.from(
      { length: 7 },
      () => chooseMember(members, "weighted", NOW).deployment.target.provider,
    );
    expect(order.join("")).toBe("aabacaa");
    expect(
      difference(
        shares(members, () => chooseMember(members, "weighted", NOW)),
        [5 / 7, 1 / 7, 1 / 7],
      ),
    ).toBeLessThan(0.01);
  });

  it("weighted: members without a weight share alike", () => {
    const members = [memberOf("a", { weight: 0 }), memberOf("b", { weight: 0 })];
    expect(
      difference(
        shares(members, () => chooseMember(members, "weighted", NOW)),
        [0.5, 0.5],
      ),
    ).toBeLessThan(0.01);
  });

  it("priority: the lowest number, by weight among equals", () => {
    const members = [
      memberOf("a", { priority: 2 }),
      memberOf("b", { priority: 1, weight: 3 }),
      memberOf("c", { priority: 1 }),
    ];
    expect(
      difference(
        shares(members, () => chooseMember(members, "priority", NOW)),
        [0, 0.75, 0.25],
      ),
    ).toBeLessThan(0.01);
  });

  it("least busy: the fewest under way, alike among equals", () => {
    const members = [memberOf("a"), memberOf("b"), memberOf("c")];
    members[0]?.deployment.slots.take(holderOf(undefined));
    expect(
      difference(
        shares(members, () => chooseMember(members, "least_busy", NOW)),
        [0, 0.5, 0.5],
      ),
    ).toBeLessThan(0.01);
    const held = [memberOf("a"), memberOf("b")];
    const pick = () => {
      const member = chooseMember(held, "least_busy", NOW);
      member.deployment.slots.take(holderOf(undefined));
      return member;
    };
    expect(difference(shares(held, pick), [0.5, 0.5])).toBeLessThan(0.01);
  });

  it("lowest latency: the faster one; a slow answer counts at once, and fades over ten seconds", () => {
    const members = [memberOf("fast"), memberOf("slow")] as const;
    observe(members[0], 50, 0);
    observe(members[1], 100, 0);
    expect(
      difference(
        shares(members, () => chooseMember(members, "lowest_latency", NOW)),
        [1, 0],
      ),
    ).toBeLessThan(0.01);
    observe(members[0], 500, 0);
    expect(chooseMember(members, "lowest_latency", NOW)).toBe(members[1]);
    // The slow one is renewed with every answer, the fast one fades meanwhile.
    observe(members[1], 100, 20_000);
    expect(chooseMember(members, "lowest_latency", at(20_000))).toBe(members[0]);
  });

  it("lowest latency: one key's slow requests move no other key (I12)", () => {
    const members = [memberOf("fast"), memberOf("slow")] as const;
    for (let nowMs = 0; nowMs < 60_000; nowMs += 1_000) {
      observe(members[0], 57, nowMs, "victim");
      observe(members[1], 600, nowMs, "victim");
      if (nowMs % 12_000 === 0) observe(members[0], 12_000, nowMs, "attacker");
      expect(chooseMember(members, "lowest_latency", at(nowMs, "victim"))).toBe(members[0]);
    }
  });

  it("lowest latency: what one key alone has seen of a target fades within seconds for the others", () => {
    const members = [memberOf("fast"), memberOf("slow")] as const;
    observe(members[0], 12_000, 0, "attacker");
    observe(members[1], 600, 0, "victim");
    expect(chooseMember(members, "lowest_latency", at(0, "victim"))).toBe(members[1]);
    observe(members[1], 600, 7_000, "victim");
    expect(chooseMember(members, "lowest_latency", at(7_000, "victim"))).toBe(members[0]);
  });

  it("lowest latency: what was never measured is tried, by one request at a time", () => {
    const members = [memberOf("known"), memberOf("new")] as const;
    observe(members[0], 50, 0);
    expect(chooseMember(members, "lowest_latency", NOW)).toBe(members[1]);
    members[1].deployment.slots.take(holderOf(undefined));
    expect(chooseMember(members, "lowest_latency", NOW)).toBe(members[0]);
  });

  it("lowest cost: the cheaper one, unknown prices last, by weight among equals", () => {
    const members = [
      memberOf("unknown"),
      memberOf("a", { cost: 2, weight: 3 }),
      memberOf("b", { cost: 2 }),
      memberOf("c", { cost: 3 }),
    ];
    expect(
      difference(
        shares(members, () => chooseMember(members, "lowest_cost", NOW)),
        [0, 0.75, 0.25, 0],
      ),
    ).toBeLessThan(0.01);
    const [unknown] = members as [Member];
    expect(chooseMember([unknown], "lowest_cost", NOW)).toBe(unknown);
  });

  it("sticky: a key keeps its target, keys are spread by weight, and a target that goes moves only its own keys", () => {
    const members = [memberOf("a", { weight: 2 }), memberOf("b"), memberOf("c")];
    const pick = (among: readonly Member[], turn: number) =>
      chooseMember(among, "sticky", { ...NOW, stickyKey: `key-${turn}` });
    // 10,000 keys are a sample: one percent is over two standard deviations, and the keys are
    // always the same.
    expect(
      difference(
        shares(members, (turn) => pick(members, turn)),
        [0.5, 0.25, 0.25],
      ),
    ).toBeLessThan(0.01);
    const rest = members.slice(0, 2);
    let moved = 0;
    for (let turn = 0; turn < PICKS; turn += 1) {
      const before = pick(members, turn);
      expect(pick(members, turn)).toBe(before);
      if (before !== members[2] && pick(rest, turn) !== before) moved += 1;
    }
    expect(moved).toBe(0);
  });
});
