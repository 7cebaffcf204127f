/** The contract of shared state: what every driver passes. */

import type { Claim, SharedState, StateBound, TakeResult } from "@sluice/contract";
import { budget, freshId, inTime, LEASE_MS, ownKeys, slot, window } from "./claims.ts";
import { groupTests } from "./groups.ts";
import { lazily, type Runner, type StateUnderTest } from "./under-test.ts";

/**
 * Runs the suite against a driver. `make` is called once, before the tests; every run of a
 * test has keys of its own.
 */
export function sharedStateContract(
  { describe, it, expect }: Runner,
  name: string,
  make: () => Promise<StateUnderTest>,
): void {
  const made = lazily(make);
  const take = async (
    state: SharedState,
    ...claims: Claim[]
  ): Promise<TakeResult & { readonly id: string }> => {
    const id = freshId();
    return { id, ...(await state.take({ id, claims }, LEASE_MS)) };
  };

  describe(`shared state: ${name}`, () => {
    it("takes all claims or none, and says which is short", async () => {
      const { state } = await made();
      const own = ownKeys();
      await state.seed(own("all:budget"), 0);
      const claims = [
        window(own("all:window"), 10),
        slot(own("all:slot"), 1),
        budget(own("all:budget"), 100, 40),
      ];
      const first = await take(state, ...claims);
      expect(first).toMatchObject({ outcome: "granted" });
      expect(
        first.outcome === "granted" &&
          first.states.map(({ limit, remaining }) => [limit, remaining]),
      ).toEqual([
        [10, 9],
        [1, 0],
        [100, 60],
      ]);
      const second = await take(state, ...claims);
      expect(second).toMatchObject({
        outcome: "refused",
        failedIndex: 1,
        neverFits: false,
        retryAfterMs: undefined,
      });
      const [reading] = await state.read([own("all:window")]);
      expect(reading?.windowUsed).toBe(1);
      expect((await state.read([own("all:budget")]))[0]).toMatchObject({
        spentNanoUsd: 0,
        reservedNanoUsd: 40,
      });
    });

    it("says that what exceeds the whole limit never fits", async () => {
      const { state } = await made();
      const own = ownKeys();
      await state.seed(own("never:budget"), 0);
      for (const claim of [
        window(own("never:window"), 5, 6),
        budget(own("never:budget"), 5, 6),
        slot(own("never:slot"), 0),
      ]) {
        expect(await take(state, claim)).toMatchObject({
          outcome: "refused",
          neverFits: true,
          retryAfterMs: undefined,
        });
      }
    });

    it("refuses what costs nothing under a budget of 0, and not under one that is spent", async () => {
      const { state } = await made();
      for (const [key, limit, outcome] of [
        ["zero:closed", 0, "refused"],
        ["zero:spent", 5, "granted"],
      ] as const) {
        await state.seed(key, limit);
        expect((await take(state, budget(key, limit, 0))).outcome).toBe(outcome);
      }
    });

    it("slides a window, and says truly when the next fits", async () => {
      const { state, wait } = await made();
      const { claim, taken } = await inTime(150, async () => {
        const claim = window(ownKeys()("slide"), 3, 1, 600);
        const taken: TakeResult[] = [];
        for (let at = 0; at < 4; at += 1) taken.push(await take(state, claim));
        return { claim, taken };
      });
      const refused = taken.pop();
      expect(taken.map(({ outcome }) => outcome)).toEqual(["granted", "granted", "granted"]);
      expect(refused?.outcome).toBe("refused");
      const waitMs = refused?.outcome === "refused" ? refused.retryAfterMs! : 0;
      expect(waitMs).toBeGreaterThan(400);
      expect(waitMs).toBeLessThanOrEqual(610);
      await wait(waitMs);
      expect((await take(state, claim)).outcome).toBe("granted");
    });

    it("corrects a window by what it was, both ways", async () => {
      const { state } = await made();
      const own = ownKeys();
      const less = await take(state, window(own("less"), 1_000, 800));
      await state.settle({ id: less.id, claims: [window(own("less"), 1_000, 100)] });
      const more = await take(state, window(own("more"), 1_000, 100));
      await state.settle({ id: more.id, claims: [window(own("more"), 1_000, 1_500)] });
      const [lessNow, moreNow] = await state.read([own("less"), own("more")]);
      expect(lessNow?.windowUsed).toBe(100);
      expect(moreNow?.windowUsed).toBe(1_500);
      expect(await take(state, window(own("more"), 1_000))).toMatchObject({
        outcome: "refused",
        states: [{ remaining: 0 }],
      });
    });

    it("books a settlement once", async () => {
      const { state } = await made();
      const own = ownKeys();
      await state.seed(own("once"), 5);
      const { id } = await take(state, budget(own("once"), 1_000, 100), slot(own("once:slot"), 3));
      const actual = [budget(own("once"), 1_000, 30), slot(own("once:slot"), 3)];
      await Promise.all([
        state.settle({ id, claims: actual }),
        state.settle({ id, claims: actual }),
      ]);
      await state.settle({ id, claims: actual });
      const [money, slots] = await state.read([own("once"), own("once:slot")]);
      expect(money).toMatchObject({ spentNanoUsd: 35, reservedNanoUsd: 0 });
      expect(slots?.inFlight ?? 0).toBe(0);
    });

    it("frees claims without renewal, and still books their cost", async () => {
      const { state, wait } = await made();
      const { own, id, outcomes } = await inTime(100, async () => {
        const own = ownKeys();
        await state.seed(own("lease"), 0);
        const claims = [slot(own("lease:slot"), 1), budget(own("lease"), 100, 100)];
        const other = [slot(own("lease:other"), 1)];
        const [id, renewed] = [freshId(), freshId()];
        const first = await state.take({ id, claims }, 100);
        const second = await state.take({ id: renewed, claims: other }, 100);
        await state.renew([{ id: renewed, claims: other }], LEASE_MS);
        const again = await take(state, ...claims);
        return { own, id, outcomes: [first, second, again].map(({ outcome }) => outcome) };
      });
      expect(outcomes).toEqual(["granted", "granted", "refused"]);
      await wait(120);
      expect((await take(state, slot(own("lease:other"), 1))).outcome).toBe("refused");
      expect((await take(state, slot(own("lease:slot"), 1))).outcome).toBe("granted");
      expect((await state.read([own("lease")]))[0]).toMatchObject({ reservedNanoUsd: 0 });
      await state.settle({
        id,
        claims: [slot(own("lease:slot"), 1), budget(own("lease"), 100, 70)],
      });
      await state.settle({
        id,
        claims: [slot(own("lease:slot"), 1), budget(own("lease"), 100, 70)],
      });
      expect((await state.read([own("lease")]))[0]).toMatchObject({
        spentNanoUsd: 70,
        reservedNanoUsd: 0,
      });
    });

    it("asks for what was spent, once, and counts what is settled meanwhile", async () => {
      const { state } = await made();
      const own = ownKeys();
      const claim = budget(own("seed"), 100, 60);
      expect(await take(state, window(own("seed:window"), 5), claim)).toMatchObject({
        outcome: "unseeded",
        keys: [own("seed")],
      });
      expect((await state.read([own("seed:window")]))[0]?.windowUsed ?? 0).toBe(0);
      await state.seed(own("seed"), 30);
      await state.seed(own("seed"), 9_999);
      expect((await take(state, claim)).outcome).toBe("granted");
      expect(await take(state, claim)).toMatchObject({
        outcome: "refused",
        states: [{ limit: 100, remaining: 10 }],
      });
      await state.reset(own("seed"));
      expect((await take(state, claim)).outcome).toBe("unseeded");
      expect((await state.read([own("seed")]))[0]).toMatchObject({
        spentNanoUsd: undefined,
        reservedNanoUsd: 60,
      });
    });

    it("puts back a reservation that was lost when it is renewed", async () => {
      const { state } = await made();
      const own = ownKeys();
      await state.seed(own("lost"), 0);
      await state.renew(
        [{ id: freshId(), claims: [budget(own("lost"), 100, 80), slot(own("lost:slot"), 1)] }],
        LEASE_MS,
      );
      expect((await take(state, budget(own("lost"), 100, 30))).outcome).toBe("refused");
      expect((await take(state, slot(own("lost:slot"), 1))).outcome).toBe("refused");
    });

    it("counts money to the last nano-dollar, up to 2^53", async () => {
      const { state } = await made();
      const own = ownKeys();
      const limit = Number.MAX_SAFE_INTEGER;
      await state.seed(own("exact"), limit - 1_000_001);
      const { id } = await take(state, budget(own("exact"), limit, 1_000_000));
      await state.settle({ id, claims: [budget(own("exact"), limit, 999_999)] });
      expect((await state.read([own("exact")]))[0]?.spentNanoUsd).toBe(limit - 2);
      expect((await take(state, budget(own("exact"), limit, 3))).outcome).toBe("refused");
      expect((await take(state, budget(own("exact"), limit, 2))).outcome).toBe("granted");
    });

    it("grants exactly ten of a thousand, asked by two at once", async () => {
      const { state, second } = await made();
      const own = ownKeys();
      await state.seed(own("ten"), 0);
      const all = await Promise.all(
        Array.from({ length: 1_000 }, (_, at) =>
          take(at % 2 === 0 ? state : second, budget(own("ten"), 1_000, 100)),
        ),
      );
      const granted = all.filter(({ outcome }) => outcome === "granted");
      expect(granted).toHaveLength(10);
      await Promise.all(
        granted.map(({ id }) => second.settle({ id, claims: [budget(own("ten"), 1_000, 100)] })),
      );
      expect((await state.read([own("ten")]))[0]).toMatchObject({
        spentNanoUsd: 1_000,
        reservedNanoUsd: 0,
      });
    });

    groupTests({ it, expect }, made, take);

    it("keeps bytes for a while, by namespace", async () => {
      const { state, second, wait, tooManyBytes } = await made();
      const { cache } = state;
      const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
      expect(await cache.get("cache:a")).toBeUndefined();
      expect(await cache.set("cache:a", bytes, 60_000)).toBe(true);
      expect(await cache.set("cache:[b]*", bytes, 80)).toBe(true);
      expect(Uint8Array.from((await second.cache.get("cache:a"))!)).toEqual(bytes);
      expect(await cache.set("cache:a", new Uint8Array(tooManyBytes), 60_000)).toBe(false);
      expect(await cache.get("cache:a")).toBeUndefined();
      await wait(100);
      expect(await cache.get("cache:[b]*")).toBeUndefined();
      for (const key of ["cache:[x]1", "cache:[x]2", "cache:x3"])
        await cache.set(key, bytes, 60_000);
      expect(await cache.purge("cache:[x]")).toBe(2);
      expect(await cache.get("cache:[x]1")).toBeUndefined();
      await cache.delete("cache:x3");
      expect(await cache.get("cache:x3")).toBeUndefined();
    });

    it("keeps bytes within bounds: the oldest go first", async () => {
      const { state, second, wait } = await made();
      const { cache } = state;
      const run = freshId();
      const bytes = new Uint8Array(10_000);
      const bound = (name: string, maxBytes: number): StateBound => ({
        name: `${run}:${name}`,
        maxBytes,
      });
      const set = (key: string, ttlMs: number, ...bounds: StateBound[]) =>
        cache.set(`${run}:${key}`, bytes, ttlMs, run, bounds);
      const present = async (...keys: string[]) => {
        const found: string[] = [];
        for (const key of keys)
          if ((await second.cache.get(`${run}:${key}`)) !== undefined) found.push(key);
        return found;
      };
      const [own, all] = [bound("own", 25_000), bound("all", 36_000)];
      expect(await set("large", 60_000, own, bound("small", 9_999))).toBe(false);
      expect(await present("large")).toEqual([]);
      // The ends of entries differ by their order.
      for (const [at, key] of ["1", "2", "3"].entries()) {
        expect(await set(key, 60_000 + at * 1_000, own, all)).toBe(true);
      }
      expect(await present("1", "2", "3")).toEqual(["2", "3"]);
      expect(await set("4", 64_000, all)).toBe(true);
      expect(await present("2", "3", "4")).toEqual(["2", "3", "4"]);
      // One more in all of them: the oldest leaves every bound that it was in.
      expect(await set("5", 65_000, all)).toBe(true);
      expect(await present("2", "3", "4", "5")).toEqual(["3", "4", "5"]);
      await cache.delete(`${run}:4`);
      expect(await set("6", 66_000, own, all)).toBe(true);
      expect(await present("3", "5", "6")).toEqual(["3", "5", "6"]);
      // The same key again counts once.
      expect(await set("6", 67_000, own, all)).toBe(true);
      expect(await present("3", "5", "6")).toEqual(["3", "5", "6"]);
      // What is over makes room by itself.
      const brief = bound("brief", 25_000);
      await set("7", 60, brief);
      await set("8", 68_000, brief);
      await wait(100);
      await set("9", 69_000, brief);
      expect(await present("7", "8", "9")).toEqual(["8", "9"]);
    });

    it("drops the oldest of a bound's largest part, of the new entry's where it is one", async () => {
      const { state, second, wait } = await made();
      const run = freshId();
      const all = `${run}:all`;
      const set = (part: string, key: string, ttlMs: number, kilobytes = 10) =>
        state.cache.set(
          `${run}:${part}:${key}`,
          new Uint8Array(kilobytes * 1_000),
          ttlMs,
          `${run}:${part}`,
          [
            { name: `${run}:${part}`, maxBytes: 80_000 },
            { name: all, maxBytes: 108_000, part: `${run}:${part}` },
          ],
        );
      const present = async (...keys: string[]) => {
        const found: string[] = [];
        for (const key of keys)
          if ((await second.cache.get(`${run}:${key}`)) !== undefined) found.push(key);
        return found;
      };
      await set("quiet", "1", 60_000);
      for (let at = 0; at < 5; at += 1) await set("large", `${at}`, 61_000 + at);
      for (let at = 0; at < 4; at += 1) await set("other", `${at}`, 62_000 + at);
      // The largest part loses its oldest, although the oldest of all is of another one.
      await set("other", "4", 63_000);
      expect(await present("quiet:1", "large:0", "large:1", "other:0")).toEqual([
        "quiet:1",
        "large:1",
        "other:0",
      ]);
      // The new entry's part has the most now.
      await set("other", "5", 64_000);
      expect(await present("quiet:1", "large:1", "other:0", "other:1")).toEqual([
        "quiet:1",
        "large:1",
        "other:1",
      ]);
      // What has ended no longer counts in its part.
      await set("brief", "long", 65_000);
      await set("brief", "short", 60, 60);
      await wait(100);
      expect(await present("quiet:1", "brief:long", "brief:short")).toEqual([
        "quiet:1",
        "brief:long",
      ]);
      for (let at = 0; at < 6; at += 1) await set("new", `${at}`, 66_000 + at);
      await set("quiet", "2", 67_000);
      expect(await present("quiet:1", "quiet:2", "brief:long", "new:0", "new:1")).toEqual([
        "quiet:1",
        "quiet:2",
        "brief:long",
        "new:1",
      ]);
    });

    it("gives a repeat the first one's result", async () => {
      const { state, second, wait } = await made();
      const key = `repeat:${freshId()}`;
      // A lease is what is left to a deadline: no whole number.
      expect(await state.records.begin(key, "body", "one", 60_000.25)).toEqual({ outcome: "new" });
      expect(await second.records.begin(key, "body", "two", 60_000)).toEqual({
        outcome: "running",
      });
      expect(await second.records.begin(key, "other", "two", 60_000)).toEqual({
        outcome: "conflict",
      });
      expect(await second.records.complete(key, "two", Buffer.from("stolen"), 60_000)).toBe(false);
      await second.records.abandon(key, "two");
      expect(await state.records.complete(key, "one", Buffer.from([0, 255, 13, 10]), 60_000)).toBe(
        true,
      );
      const done = await second.records.begin(key, "body", "two", 60_000);
      expect(done.outcome === "done" && [...done.bytes]).toEqual([0, 255, 13, 10]);
      expect(await second.records.begin(key, "other", "two", 60_000)).toEqual({
        outcome: "conflict",
      });
      const left = `repeat:${freshId()}`;
      await state.records.begin(left, "body", "one", 60_000);
      await state.records.abandon(left, "one");
      expect(await second.records.begin(left, "body", "two", 50)).toEqual({ outcome: "new" });
      await wait(70);
      expect(await state.records.begin(left, "body", "three", 60_000)).toEqual({ outcome: "new" });
      expect(await second.records.complete(left, "two", Buffer.from("late"), 60_000)).toBe(false);
    });

    it("asks nothing of a driver for nothing", async () => {
      const { state } = await made();
      expect(await take(state)).toMatchObject({ outcome: "granted", states: [] });
      expect(await state.read([])).toEqual([]);
      await state.renew([], LEASE_MS);
    });
  });
}
