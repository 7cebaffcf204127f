/** The part of the contract of shared state about groups of counters. */

import type { Claim, SharedState, StateGroup, TakeResult } from "@sluice/contract";
import { budget, freshId, inGroup, LEASE_MS, ownKeys, slot, window } from "./claims.ts";
import type { Runner, StateUnderTest } from "./under-test.ts";

/** Takes claims under an id of their own. */
type Take = (
  state: SharedState,
  ...claims: Claim[]
) => Promise<TakeResult & { readonly id: string }>;

/** Adds the tests about reservations of several groups. */
export function groupTests(
  { it, expect }: Omit<Runner, "describe">,
  made: () => Promise<StateUnderTest>,
  take: Take,
): void {
  it("takes the claims of several groups, or none of them", async () => {
    const { state, second } = await made();
    const own = ownKeys();
    const { home, user, whole } = groupsOf("several");
    const claims = [
      inGroup(home, budget(own("several:budget"), 100, 40)),
      inGroup(whole, slot(own("several:slot"), 1)),
      inGroup(user, window(own("several:window"), 10)),
    ];
    await state.seed(own("several:budget"), 0, { group: home });
    const first = await take(state, ...claims);
    expect(first.outcome === "granted" && first.states.map(({ remaining }) => remaining)).toEqual([
      60, 0, 9,
    ]);
    const id = freshId();
    expect(await second.take({ id, claims }, LEASE_MS)).toMatchObject({
      outcome: "refused",
      failedIndex: 1,
      neverFits: false,
      states: [{ limit: 100 }, { remaining: 0 }, { limit: 10 }],
    });
    const used = async () => [
      ...(await state.read([own("several:budget")], home)),
      ...(await state.read([own("several:window")], user)),
    ];
    expect(await used()).toMatchObject([
      { spentNanoUsd: 0, reservedNanoUsd: 40 },
      { windowUsed: 1 },
    ]);
    await state.renew([{ id: first.id, claims }], LEASE_MS);
    const actual = [inGroup(home, budget(own("several:budget"), 100, 30)), ...claims.slice(1)];
    await state.settle({ id: first.id, claims: actual });
    await second.settle({ id: first.id, claims: actual });
    expect(await used()).toMatchObject([
      { spentNanoUsd: 30, reservedNanoUsd: 0 },
      { windowUsed: 1 },
    ]);
    // What was refused may be taken under the same id.
    expect((await second.take({ id, claims }, LEASE_MS)).outcome).toBe("granted");
  });

  it("asks for the budgets of all groups at once", async () => {
    const { state } = await made();
    const own = ownKeys();
    const { home, user, whole } = groupsOf("unknown");
    const claims = [home, user, whole].map((group) =>
      inGroup(group, budget(own(`unknown:${group.name}`), 100, 40)),
    );
    const asked = await take(state, ...claims);
    expect(asked.outcome === "unseeded" && asked.keys.toSorted()).toEqual(
      claims.map(({ key }) => key).toSorted(),
    );
    for (const { key, group } of claims) await state.seed(key, 10, { group });
    expect((await take(state, ...claims)).outcome).toBe("granted");
    for (const { key, group } of claims) {
      expect((await state.read([key], group))[0]).toMatchObject({ reservedNanoUsd: 40 });
      await state.reset(key, group);
      expect((await state.read([key], group))[0]?.spentNanoUsd).toBeUndefined();
    }
  });

  it("grants exactly as many of a storm as the tightest of several groups has", async () => {
    const { state, second } = await made();
    const own = ownKeys();
    const { home, user, whole } = groupsOf("storm");
    const claims = (amount: number) => [
      inGroup(whole, budget(own("storm:whole"), 1_000, amount)),
      inGroup(home, budget(own("storm:home"), 3_000, amount)),
      inGroup(user, budget(own("storm:user"), 2_000, amount)),
    ];
    for (const { key, group } of claims(0)) await state.seed(key, 0, { group });
    const all = await Promise.all(
      Array.from({ length: 300 }, (_, at) => take(at % 2 === 0 ? state : second, ...claims(100))),
    );
    const granted = all.filter(({ outcome }) => outcome === "granted");
    expect(granted).toHaveLength(10);
    await Promise.all(granted.map(({ id }) => second.settle({ id, claims: claims(90) })));
    for (const { key, group } of claims(0))
      expect((await state.read([key], group))[0]).toMatchObject({
        spentNanoUsd: 900,
        reservedNanoUsd: 0,
      });
  });
}

/** Three groups, in the order in which they are asked. */
function groupsOf(name: string): Record<"home" | "user" | "whole", StateGroup> {
  const group = (kind: string, order: number): StateGroup => ({ name: `${kind}:${name}`, order });
  return { home: group("home", 0), user: group("user", 1), whole: group("whole", 2) };
}
