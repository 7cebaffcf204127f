import { describe, expect, it } from "vitest";
import { EMPTY_KEY, type KeyRecord, type TeamRecord } from "@sluice/contract";
import { fakeClock } from "@sluice/testing";
import { KeyRing } from "./key-ring.ts";

const MASTER_KEY = "master-key-of-24-letters";

/** A ring over records that a test changes at will; `reads` counts the look-ups. */
function ringOf(records: KeyRecord[], teams: TeamRecord[] = []) {
  const clock = fakeClock();
  const state = { reads: 0, gate: Promise.resolve() };
  const ring = new KeyRing({
    pepper: Buffer.from("pepper"),
    masterKey: MASTER_KEY,
    clock,
    keys: {
      find: async () => undefined,
      async findByDigest(digest) {
        state.reads++;
        const found = records.find(
          (record) => record.digest === digest || record.previousDigest === digest,
        );
        await state.gate;
        return found;
      },
    },
    teams: { find: async (id) => teams.find((team) => team.id === id) },
  });
  return { ring, clock, state };
}

const pepper = ringOf([]).ring;

function keyOf(key: string, parts: Partial<KeyRecord> = {}): KeyRecord {
  return {
    ...EMPTY_KEY,
    id: "k",
    digest: pepper.digest(key),
    last4: key.slice(-4),
    createdAtMs: 0,
    ...parts,
  };
}

const team = (parts: Partial<TeamRecord>) =>
  ({
    id: "t",
    models: [],
    tags: [],
    allowedTags: [],
    guardrails: [],
    blocked: false,
    ...UNLIMITED,
    ...parts,
  }) as unknown as TeamRecord;

const UNLIMITED = {
  maxBudgetNanoUsd: null,
  softBudgetNanoUsd: null,
  budgetDuration: null,
  rpm: null,
  tpm: null,
  maxParallelRequests: null,
};

describe("a key ring", () => {
  it("remembers a look-up, also of an unknown key, for a second", async () => {
    const records = [keyOf("sk-a")];
    const { ring, clock, state } = ringOf(records);
    expect(await ring.identify("sk-a")).toMatchObject({ keyId: "k" });
    expect(await ring.identify("sk-b")).toBeUndefined();
    records[0] = keyOf("sk-a", { blocked: true });
    clock.advance(999);
    expect(ring.identify("sk-a")).toMatchObject({ keyId: "k" });
    expect(ring.identify("sk-b")).toBeUndefined();
    expect(state.reads).toBe(2);
    clock.advance(1);
    expect(await ring.identify("sk-a")).toBeUndefined();
  });

  it("does not remember what it read before a change", async () => {
    const records = [keyOf("sk-a")];
    const { ring, state } = ringOf(records);
    let open = (): void => undefined;
    state.gate = new Promise((resolve) => (open = resolve));
    const under = ring.identify("sk-a");
    records[0] = keyOf("sk-a", { blocked: true });
    ring.forget();
    open();
    // This one began before the block. The next began after it.
    expect(await under).toBeDefined();
    expect(await ring.identify("sk-a")).toBeUndefined();
  });

  it("ends a key at its time, within the second that it is remembered for", async () => {
    const start = ringOf([]).clock.now();
    const { ring, clock } = ringOf([keyOf("sk-a", { expiresAtMs: start + 500 })]);
    expect(await ring.identify("sk-a")).toBeDefined();
    clock.advance(499);
    expect(await ring.identify("sk-a")).toBeDefined();
    clock.advance(1);
    expect(await ring.identify("sk-a")).toBeUndefined();
  });

  it("takes the previous secret until the overlap ends, and no longer than the key lives", async () => {
    const start = ringOf([]).clock.now();
    const previousDigest = pepper.digest("sk-old");
    const { ring, clock } = ringOf([
      keyOf("sk-new", { previousDigest, previousUntilMs: start + 300 }),
    ]);
    expect(await ring.identify("sk-old")).toMatchObject({ keyId: "k" });
    clock.advance(300);
    expect(await ring.identify("sk-old")).toBeUndefined();
    expect(await ring.identify("sk-new")).toBeDefined();
    const ended = ringOf([
      keyOf("sk-new", { previousDigest, previousUntilMs: start + 300, expiresAtMs: start }),
    ]);
    expect(await ended.ring.identify("sk-old")).toBeUndefined();
    const none = ringOf([keyOf("sk-new", { previousDigest })]);
    expect(await none.ring.identify("sk-old")).toBeUndefined();
  });

  it("refuses keys of a team that is blocked or gone", async () => {
    const records = [keyOf("sk-a", { teamId: "t", tags: ["k"] })];
    expect(await ringOf(records).ring.identify("sk-a")).toBeUndefined();
    expect(await ringOf(records, [team({ blocked: true })]).ring.identify("sk-a")).toBeUndefined();
    const bounded = ringOf(records, [team({ models: ["m"], tags: ["t", "k"] })]).ring;
    expect(await bounded.identify("sk-a")).toMatchObject({
      teamId: "t",
      modelBounds: [["m"]],
      tags: ["k", "t"],
    });
  });

  it("carries the limits of the key and of its team, and nothing where there are none", async () => {
    const limits = { ...UNLIMITED, maxBudgetNanoUsd: 5, budgetDuration: "1d", tpm: 7 };
    const { ring } = ringOf([keyOf("sk-a", { teamId: "t", ...limits })], [team({ rpm: 3 })]);
    expect(await ring.identify("sk-a")).toMatchObject({
      scopes: [
        { kind: "team", id: "t", amounts: { rpm: 3, maxBudgetNanoUsd: null } },
        { kind: "key", id: "k", amounts: limits },
      ],
    });
    expect(
      await ringOf([keyOf("sk-c", { softBudgetNanoUsd: 0 })]).ring.identify("sk-c"),
    ).toMatchObject({
      scopes: [{ kind: "key", amounts: { ...UNLIMITED, softBudgetNanoUsd: 0 } }],
    });
    const { ring: periodAlone } = ringOf([keyOf("sk-b", { budgetDuration: "1d" })]);
    expect((await periodAlone.identify("sk-b"))?.scopes).toBeUndefined();
  });

  it.each([
    ["key", "u", "t", "key"],
    ["user", "u", null, "user"],
    ["user", null, null, "key"],
    ["team", null, "t", "team"],
    ["team", "u", null, "key"],
  ] as const)(
    "reads scope %s with user %s and team %s as %s",
    async (spendScope, userId, teamId, expected) => {
      const { ring } = ringOf([keyOf("sk-a", { spendScope, userId, teamId })], [team({})]);
      expect(await ring.identify("sk-a")).toMatchObject({ spendScope: expected });
    },
  );

  it("knows the master key without the store, and takes no digest for a key", async () => {
    const { ring, state } = ringOf([keyOf("sk-a")]);
    expect(ring.identify(MASTER_KEY)).toMatchObject({ kind: "master" });
    expect(state.reads).toBe(0);
    expect(await ring.identify(pepper.digest("sk-a"))).toBeUndefined();
    expect(await ring.identify(ring.fingerprint("sk-a"))).toBeUndefined();
  });
});
