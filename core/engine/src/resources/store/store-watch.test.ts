import type { ChangeListener, KeyRecord, RecordChange, RecordChanges } from "@sluice/contract";
import { EMPTY_KEY } from "@sluice/contract";
import { fakeClock } from "@sluice/testing";
import { afterEach, describe, expect, it } from "vitest";
import { KeyRing } from "../key-ring.ts";
import { StoreWatch } from "./store-watch.ts";
import type { StoreDownPolicy } from "./validity.ts";

const SERVE: StoreDownPolicy = { onStoreDown: "serve_known", maxStalenessMs: 60_000 };
const log = { debug() {}, info() {}, warn() {}, error() {} };
const running: StoreWatch[] = [];

/** A store whose log and records a test changes at will. */
function storeOf(policy = SERVE) {
  const clock = fakeClock();
  const records = new Map<string, KeyRecord>();
  const listeners = new Set<ChangeListener>();
  const state = { isDown: false, reads: 0, lookups: 0, log: [] as RecordChanges[] };
  const fail = async (): Promise<never> => {
    throw new Error("connection refused");
  };
  const watch = new StoreWatch({
    clock,
    log,
    policy,
    changes: {
      async read() {
        state.reads += 1;
        if (state.isDown) return fail();
        const found = state.log.splice(0);
        return found.includes(undefined) ? undefined : (found.flat() as RecordChange[]);
      },
      listen: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  });
  running.push(watch);
  const ring = new KeyRing({
    pepper: Buffer.from("pepper"),
    masterKey: "master-key-of-24-letters",
    clock,
    validity: watch,
    keys: {
      find: async () => undefined,
      async findByDigest(digest) {
        state.lookups += 1;
        return state.isDown ? fail() : records.get(digest);
      },
    },
    teams: { find: async () => undefined },
  });
  watch.onChanges((changes, asOfMs) => ring.take(changes, asOfMs));
  watch.start();
  return {
    ring,
    watch,
    clock,
    state,
    listeners,
    set(secret: string, id: string, parts: Partial<KeyRecord> = {}) {
      const digest = ring.digest(secret);
      records.set(digest, { ...EMPTY_KEY, id, digest, last4: "", createdAtMs: 0, ...parts });
    },
    /** Commits a change at another process. */
    commit(...ids: string[]) {
      state.log.push(ids.map((id) => ({ kind: "key", ids: [id] })));
    },
    /** Stops the store until the watch has noticed. */
    async goDown() {
      state.isDown = true;
      while (!watch.health.isAway) await watch.refresh();
    },
  };
}

afterEach(async () => {
  for (const watch of running.splice(0)) await watch.stop();
});

describe("a watch of the store", () => {
  it("serves known keys without look-ups until a change names them", async () => {
    const { ring, clock, state, set, commit, watch } = storeOf();
    set("sk-a", "a");
    set("sk-b", "b");
    expect(await ring.identify("sk-a")).toMatchObject({ keyId: "a" });
    expect(await ring.identify("sk-b")).toMatchObject({ keyId: "b" });
    for (let second = 0; second < 5; second++) {
      clock.advance(1_000);
      expect(await ring.identify("sk-a")).toBeDefined();
      expect(ring.identify("sk-b")).toMatchObject({ keyId: "b" });
    }
    expect(state.lookups).toBe(2);
    set("sk-a", "a", { blocked: true });
    commit("a");
    await watch.refresh();
    expect(await ring.identify("sk-a")).toBeUndefined();
    expect(ring.identify("sk-b")).toMatchObject({ keyId: "b" });
    expect(state.lookups).toBe(3);
  });

  it("never serves what it did not check for a second, and checks all keys at once", async () => {
    const { ring, clock, state, set, commit } = storeOf();
    set("sk-a", "a");
    set("sk-b", "b");
    await Promise.all([ring.identify("sk-a"), ring.identify("sk-b")]);
    clock.advance(999);
    expect(ring.identify("sk-a")).toMatchObject({ keyId: "a" });
    set("sk-a", "a", { blocked: true });
    commit("a");
    clock.advance(1);
    const { reads, lookups } = state;
    const found = await Promise.all([ring.identify("sk-a"), ring.identify("sk-b")]);
    expect(found).toEqual([undefined, expect.objectContaining({ keyId: "b" })]);
    expect([state.reads - reads, state.lookups - lookups]).toEqual([1, 1]);
  });

  it("takes the writes of its own process at once", async () => {
    const { ring, set, listeners } = storeOf();
    set("sk-a", "a");
    expect(await ring.identify("sk-a")).toBeDefined();
    set("sk-a", "a", { blocked: true });
    for (const listener of listeners) listener.onWrite([{ kind: "key", ids: ["a"] }]);
    expect(await ring.identify("sk-a")).toBeUndefined();
  });

  it("does not remember a look-up that a change overtook", async () => {
    const { ring, watch, set, commit } = storeOf();
    set("sk-a", "a");
    await watch.refresh();
    const under = ring.identify("sk-a");
    set("sk-a", "a", { blocked: true });
    commit("a");
    await watch.refresh();
    await under;
    expect(await ring.identify("sk-a")).toBeUndefined();
  });

  it("looks everything up anew where the log does not reach back", async () => {
    const { ring, watch, state, set } = storeOf();
    set("sk-a", "a");
    await ring.identify("sk-a");
    set("sk-a", "a", { blocked: true });
    state.log.push(undefined);
    await watch.refresh();
    expect(await ring.identify("sk-a")).toBeUndefined();
  });

  it("asks once for concurrent look-ups, and remembers unknown keys for a second alone", async () => {
    const { ring, clock, state, set } = storeOf();
    const asked = await Promise.all(Array.from({ length: 20 }, () => ring.identify("sk-new")));
    expect(asked.every((found) => found === undefined)).toBe(true);
    expect(state.lookups).toBe(1);
    set("sk-new", "new");
    clock.advance(1_000);
    expect(await ring.identify("sk-new")).toMatchObject({ keyId: "new" });
  });

  it("drops the keys that were used the longest ago, never for unknown ones", async () => {
    const { ring, clock, state, set } = storeOf();
    set("sk-a", "a");
    await ring.identify("sk-a");
    for (let index = 0; index < 25_000; index++) await ring.identify(`sk-${index}-unknown`);
    const { lookups } = state;
    expect(await ring.identify("sk-a")).toBeDefined();
    expect(state.lookups).toBe(lookups);
    clock.advance(1_000);
  });
});

describe("while the store is away", () => {
  it("serves known keys up to the maximum age, and refuses unknown ones at once", async () => {
    const { ring, clock, state, set, watch, goDown } = storeOf();
    set("sk-a", "a");
    set("sk-b", "b");
    await ring.identify("sk-a");
    await goDown();
    clock.advance(1_500);
    expect(ring.identify("sk-a")).toMatchObject({ keyId: "a" });
    const { lookups } = state;
    await expect(ring.identify("sk-b")).rejects.toMatchObject({ code: "overloaded" });
    expect(state.lookups).toBe(lookups);
    expect(watch.health).toMatchObject({ isAway: true, servesKnown: true });
    clock.advance(60_000);
    await expect(ring.identify("sk-a")).rejects.toMatchObject({ code: "overloaded" });
    expect(watch.health).toMatchObject({ isAway: true, servesKnown: false });
    expect(ring.identify("master-key-of-24-letters")).toMatchObject({ kind: "master" });
  });

  it("serves none where the operator says so", async () => {
    const { ring, clock, set, goDown } = storeOf({ ...SERVE, onStoreDown: "refuse" });
    set("sk-a", "a");
    await ring.identify("sk-a");
    await goDown();
    clock.advance(1_000);
    await expect(ring.identify("sk-a")).rejects.toMatchObject({ code: "overloaded" });
  });

  it("does not serve a key that is known to have changed", async () => {
    const { ring, clock, set, listeners, goDown } = storeOf();
    set("sk-a", "a");
    await ring.identify("sk-a");
    await goDown();
    for (const listener of listeners) listener.onWrite([{ kind: "key", ids: ["a"] }]);
    clock.advance(1_500);
    await expect(ring.identify("sk-a")).rejects.toMatchObject({ code: "overloaded" });
  });

  it("learns everything that changed meanwhile when it is back", async () => {
    const { ring, clock, state, set, commit, watch, goDown } = storeOf();
    set("sk-a", "a");
    await ring.identify("sk-a");
    await goDown();
    set("sk-a", "a", { blocked: true });
    commit("a");
    clock.advance(30_000);
    expect(ring.identify("sk-a")).toBeDefined();
    state.isDown = false;
    await watch.refresh();
    expect(watch.health).toMatchObject({ isAway: false, servesKnown: true });
    expect(await ring.identify("sk-a")).toBeUndefined();
  });

  it("keeps keys as they were where it must look all of them up and goes away again", async () => {
    const { ring, clock, state, set, watch, goDown } = storeOf();
    set("sk-a", "a");
    await ring.identify("sk-a");
    clock.advance(10_000);
    state.log.push(undefined);
    await watch.refresh();
    await goDown();
    clock.advance(1_500);
    expect(await ring.identify("sk-a")).toMatchObject({ keyId: "a" });
    // From the last read of the log before all were to be looked up.
    clock.advance(50_000);
    await expect(ring.identify("sk-a")).rejects.toMatchObject({ code: "overloaded" });
  });
});
