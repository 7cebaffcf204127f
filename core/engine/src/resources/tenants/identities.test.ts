import { describe, expect, it } from "vitest";
import {
  type AccessGroupRecord,
  type BudgetRecord,
  EMPTY_AMOUNTS,
  EMPTY_KEY,
  type KeyRecord,
  type MaybePromise,
} from "@sluice/contract";
import { fakeClock } from "@sluice/testing";
import { storedKey } from "../key-identity.ts";
import { Identities } from "./identities.ts";
import type { Found } from "./record-memory.ts";
import type { Block, TeamBlock, TenantSource, UserBlock } from "./tenant-source.ts";

interface Records {
  readonly organizations?: Readonly<Record<string, Block>>;
  readonly teams?: Readonly<Record<string, TeamBlock>>;
  readonly users?: Readonly<Record<string, UserBlock>>;
  /** By `user/team`. */
  readonly memberships?: Readonly<Record<string, Block>>;
  /** By `user/organization`. */
  readonly inTeamOf?: readonly string[];
  readonly budgets?: Readonly<Record<string, Partial<BudgetRecord>>>;
  readonly keys?: Readonly<Record<string, KeyRecord>>;
  readonly groups?: Readonly<Record<string, Pick<AccessGroupRecord, "organizationId" | "models">>>;
}

const NOW_MS = 1_000_000;

/** A source over records that a test may change. */
function sourceOf(records: Records): TenantSource {
  const found = <T>(value: T | undefined): MaybePromise<Found<T>> => ({
    value,
    untilMs: Number.MAX_SAFE_INTEGER,
  });
  return {
    organization: (id) => found(records.organizations?.[id]),
    team: (id) => found(records.teams?.[id]),
    user: (id) => found(records.users?.[id]),
    membership: (userId, teamId) => found(records.memberships?.[`${userId}/${teamId}`]),
    isInTeamOf: (userId, id) => found(records.inTeamOf?.includes(`${userId}/${id}`) ?? false),
    key: (id) => found(records.keys?.[id]),
    budget: (id) => found(records.budgets?.[id] as BudgetRecord | undefined),
    accessGroups: () => found(new Map(Object.entries(records.groups ?? {}))),
  };
}

function identityOf(key: Partial<KeyRecord>, records: Records = {}) {
  const record: KeyRecord = {
    ...EMPTY_KEY,
    id: "k",
    digest: "",
    last4: "",
    createdAtMs: 5,
    ...key,
  };
  const clock = { ...fakeClock(), now: () => NOW_MS };
  return new Identities(
    sourceOf(records),
    { changes: 0, isCurrent: () => true, whenCurrent: async () => undefined },
    clock,
  ).of(storedKey(record));
}

const TEAM = { teamId: "t" } as const;
const MEMBER = { userId: "u", teamId: "t" } as const;

describe("a key that belongs to something", () => {
  const memberships = { "u/t": {} };
  const inside: Records = {
    organizations: { o: {} },
    teams: { t: { organizationId: "o" } },
    users: { u: {} },
    memberships,
  };

  it("has the organization of its team, and that alone of its own", async () => {
    expect(await identityOf(MEMBER, inside)).toMatchObject({ organizationId: "o", teamId: "t" });
    expect(await identityOf({ organizationId: "o" }, inside)).toMatchObject({
      organizationId: "o",
    });
  });

  it.each<[string, Partial<KeyRecord>, Records]>([
    ["its team is gone", TEAM, { teams: {} }],
    ["its team is blocked", TEAM, { teams: { t: { blocked: true } } }],
    ["its team has expired", TEAM, { teams: { t: { expiresAtMs: NOW_MS } } }],
    ["its organization is gone", { organizationId: "o" }, {}],
    [
      "its organization is blocked",
      { organizationId: "o" },
      { organizations: { o: { blocked: true } } },
    ],
    [
      "its team's organization is blocked",
      TEAM,
      { ...inside, organizations: { o: { blocked: true } } },
    ],
    ["its team's organization is gone", TEAM, { ...inside, organizations: {} }],
    ["its user is blocked", { userId: "u" }, { users: { u: { blocked: true } } }],
    ["its user has expired", { userId: "u" }, { users: { u: { expiresAtMs: 1 } } }],
    ["its user has left the team", MEMBER, { ...inside, memberships: {} }],
    ["its membership is blocked", MEMBER, { ...inside, memberships: { "u/t": { blocked: true } } }],
    [
      "its user has left the organization",
      { userId: "u", organizationId: "o" },
      { organizations: { o: {} }, users: { u: { organizations: ["p"] } } },
    ],
  ])("is refused when %s", async (_case, key, records) => {
    expect(await identityOf(key, records)).toBeUndefined();
  });

  it("is served for a user of the organization, of one of its teams, and one without a record", async () => {
    const key = { userId: "u", organizationId: "o" };
    const organizations = { o: {} };
    expect(await identityOf(key, { organizations })).toBeDefined();
    const users = { u: { organizations: ["o"] } };
    expect(await identityOf(key, { organizations, users })).toBeDefined();
    const byTeam = { organizations, users: { u: {} }, inTeamOf: ["u/o"] };
    expect(await identityOf(key, byTeam)).toBeDefined();
    expect(await identityOf(MEMBER, { teams: { t: {} } })).toBeDefined();
  });
});

describe("the scopes of a key", () => {
  const scopesOf = async (key: Partial<KeyRecord>, records: Records) =>
    ((await identityOf(key, records))?.scopes ?? []).map(({ kind, id, amounts }) => ({
      kind,
      id,
      max: amounts.maxBudgetNanoUsd,
      rpm: amounts.rpm,
    }));

  it("are those that limit something, from the widest to the key", async () => {
    const records: Records = {
      organizations: { o: { rpm: 1 } },
      teams: { t: { organizationId: "o", maxBudgetNanoUsd: 2 } },
      users: { u: { rpm: 3 } },
      memberships: { "u/t": { maxBudgetNanoUsd: 4 } },
    };
    expect(await scopesOf({ ...MEMBER, rpm: 5 }, records)).toEqual([
      { kind: "organization", id: "o", max: null, rpm: 1 },
      { kind: "team", id: "t", max: 2, rpm: null },
      { kind: "membership", id: "1:t:u", max: 4, rpm: null },
      { kind: "user", id: "u", max: null, rpm: 3 },
      { kind: "key", id: "k", max: null, rpm: 5 },
    ]);
    expect(await scopesOf(MEMBER, { teams: { t: {} } })).toEqual([]);
  });

  it("give a member the defaults of the team for what the membership does not say", async () => {
    const teams = { t: { memberDefaults: { rpm: 7, maxBudgetNanoUsd: 8 } } };
    const users = { u: {} };
    const own = { teams, users, memberships: { "u/t": { rpm: 1 } } };
    expect(await scopesOf(MEMBER, own)).toMatchObject([{ kind: "membership", max: 8, rpm: 1 }]);
    expect(await scopesOf(MEMBER, { teams })).toMatchObject([{ max: 8, rpm: 7 }]);
  });

  it("give a member the models of the team's members where the membership names none", async () => {
    const groups = { small: { organizationId: null, models: ["m-small"] } };
    const teams = { t: { memberDefaults: { models: ["small"] } } };
    const boundsOf = async (own: readonly string[]) =>
      (
        await identityOf(MEMBER, {
          teams,
          groups,
          users: { u: {} },
          memberships: { "u/t": { models: own } },
        })
      )?.modelBounds;
    expect(await boundsOf([])).toEqual([["small", "m-small"]]);
    expect(await boundsOf(["other"])).toEqual([["other"]]);
    expect((await identityOf(TEAM, { teams, groups }))?.modelBounds).toBeUndefined();
  });

  it("count a user's money without a limit where the team ignores users' budgets", async () => {
    const records: Records = {
      teams: { t: { userBudgets: "ignore" } },
      users: { u: { maxBudgetNanoUsd: 9, rpm: 2 } },
      memberships: { "u/t": {} },
    };
    const counted = [{ kind: "user", id: "u", max: Number.MAX_SAFE_INTEGER, rpm: 2 }];
    expect(await scopesOf(MEMBER, records)).toEqual(counted);
    expect(await scopesOf({ userId: "u" }, records)).toMatchObject([{ max: 9 }]);
  });

  it("have the budget that a record refers to: as a template, or as one counter with its tag", async () => {
    const budgets = { b: { ...EMPTY_AMOUNTS, maxBudgetNanoUsd: 6, createdAtMs: 77 } };
    const each = { teams: { t: { budgetId: "b" } }, budgets };
    expect(await scopesOf({ ...TEAM, budgetId: "b" }, each)).toEqual([
      { kind: "team", id: "t", max: 6, rpm: null },
      { kind: "key", id: "k", max: 6, rpm: null },
    ]);
    const pool = { teams: { t: { budgetId: "b", budgetShare: "pool" } }, budgets } as const;
    const identity = await identityOf(TEAM, pool);
    expect(identity?.scopes).toMatchObject([{ kind: "pool", id: "b", createdAtMs: 77 }]);
    expect(identity?.tags).toEqual(["sluice:budget:b"]);
  });

  it("admit nothing for a budget that does not exist", async () => {
    expect(await scopesOf({ budgetId: "gone" }, {})).toMatchObject([{ kind: "key", max: 0 }]);
  });
});

describe("the models of a key", () => {
  it("are on every list, and groups of its organization stand for theirs", async () => {
    const records: Records = {
      organizations: { o: { models: ["large"] } },
      teams: { t: { organizationId: "o", models: ["a"], modelAliases: { fast: "a" } } },
      groups: {
        large: { organizationId: "o", models: ["a", "b"] },
        foreign: { organizationId: "p", models: ["c"] },
      },
    };
    const identity = await identityOf({ ...TEAM, models: ["foreign", "a"] }, records);
    expect(identity).toMatchObject({
      models: ["foreign", "a"],
      modelBounds: [["large", "a", "b"], ["a"]],
      modelAliases: { fast: "a" },
    });
  });

  it("have names of the key and of its team: those of the key win", async () => {
    const teams = { t: { modelAliases: { fast: "a", large: "b" } } };
    const own = { ...TEAM, modelAliases: { fast: "c", mine: "d" } };
    expect((await identityOf(own, { teams }))?.modelAliases).toEqual({
      fast: "c",
      large: "b",
      mine: "d",
    });
    const alone = await identityOf({ modelAliases: { mine: "d" } }, {});
    expect(alone?.modelAliases).toEqual({ mine: "d" });
    const shared = await identityOf(TEAM, { teams });
    expect(shared?.modelAliases).toBe(teams.t.modelAliases);
    expect(await identityOf({}, {})).not.toHaveProperty("modelAliases");
  });

  it("add tags and guardrails of all that it belongs to, and open native paths by one", async () => {
    const records: Records = {
      organizations: { o: { tags: ["o"], guardrails: ["pii"] } },
      teams: { t: { organizationId: "o", tags: ["t"], passthrough: true } },
    };
    expect(
      await identityOf({ ...TEAM, tags: ["k"], guardrails: ["words"] }, records),
    ).toMatchObject({
      tags: ["k", "t", "o"],
      guardrails: ["words", "pii"],
      passthrough: true,
    });
  });
});
