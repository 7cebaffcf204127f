import { afterEach, describe, expect, it } from "vitest";
import { type Model, Secret, type TeamRecord } from "@sluice/contract";
import { fakeClock, fakeIdentity } from "@sluice/testing";
import { AT, snapshotOf } from "../pipeline/snapshot.fixture.ts";
import { KeyRing } from "../resources/key-ring.ts";
import { createAuthority, mayUse } from "./authority.ts";

const model: Model = {
  id: "openai/o3",
  entry: "openai/*",
  mode: "chat",
  targets: [],
  accessGroups: ["big"],
  ownedBy: "openai",
};

describe("mayUse", () => {
  it.each([
    [[], true],
    [["openai/o3"], true],
    [["openai/*"], true],
    [["openai/o*"], true],
    [["*"], true],
    [["big"], true],
    [["gpt-4o", "big"], true],
    [["gpt-4o"], false],
    [["openai/o"], false],
    [["openai"], false],
    [["o3"], false],
    [["anthropic/*"], false],
    [["OPENAI/*"], false],
    [[""], false],
  ])("with the list %j is %s", (models, expected) => {
    expect(mayUse(fakeIdentity({ models }), model)).toBe(expected);
  });
});

/** A key with a list, of a team that may have none. */
const memberOf = (models: readonly string[], team: readonly string[]) =>
  fakeIdentity({ models, ...(team.length > 0 && { modelBounds: [team] }) });

describe("mayUse of a model that is only for keys that name it", () => {
  it.each([
    [[], [], false],
    [["openai/*"], [], true],
    [["big"], [], true],
    [[], ["openai/o3"], true],
    [["gpt-4o"], ["openai/o3"], false],
  ])("with the list %j and the team's list %j is %s", (models, teamModels, expected) => {
    expect(mayUse(memberOf(models, teamModels), { ...model, onlyNamed: true })).toBe(expected);
  });

  it("is true for the master key", () => {
    expect(mayUse(fakeIdentity({ kind: "master" }), { ...model, onlyNamed: true })).toBe(true);
  });
});

describe("mayUse of a team's key", () => {
  it.each([
    [[], [], true],
    [["openai/*"], ["big"], true],
    [["openai/o3"], ["gpt-4o"], false],
    [["gpt-4o"], ["openai/o3"], false],
    [[], ["gpt-4o"], false],
    [["gpt-4o"], [], false],
  ])("with the list %j and the team's list %j is %s", (models, teamModels, expected) => {
    expect(mayUse(memberOf(models, teamModels), model)).toBe(expected);
  });
});

describe("the authority of a snapshot", () => {
  const records = new Map<string, TeamRecord>();
  const keys = { find: async () => undefined, findByDigest: async () => undefined };
  const teams = { find: async (id: string) => records.get(id) };
  const ring = new KeyRing({
    pepper: Buffer.from("pepper"),
    masterKey: "master-key-of-24-letters",
    keys,
    teams,
    clock: fakeClock(),
  });
  const declared = {
    alias: "ci",
    key: new Secret("CI_KEY", "sk-ci"),
    models: ["echo"],
    userId: undefined,
    teamId: "t",
    spendScope: "team" as const,
    tags: ["x"],
    guardrails: [],
    metadata: {},
    at: AT,
  };
  const authority = createAuthority(snapshotOf({ keys: [declared] }), ring);

  afterEach(() => {
    records.clear();
    ring.forget();
  });

  it("knows the keys that the configuration declares", async () => {
    expect(await authority.identify("sk-ci")).toMatchObject({
      kind: "key",
      keyId: "yaml:ci",
      teamId: "t",
      spendScope: "team",
      models: ["echo"],
      tags: ["x"],
    });
  });

  it("bounds a declared key by its team, and refuses it while the team is blocked", async () => {
    const team = {
      id: "t",
      models: ["gpt"],
      tags: ["x", "y"],
      allowedTags: ["z"],
      guardrails: ["pii"],
      blocked: false,
    } as unknown as TeamRecord;
    records.set("t", team);
    expect(await authority.identify("sk-ci")).toMatchObject({
      models: ["echo"],
      modelBounds: [["gpt"]],
      tags: ["x", "y"],
      allowedTags: ["z"],
      guardrails: ["pii"],
    });
    records.set("t", { ...team, blocked: true });
    // Remembered until it is forgotten, or for a second.
    expect(await authority.identify("sk-ci")).toBeDefined();
    ring.forget();
    expect(await authority.identify("sk-ci")).toBeUndefined();
  });

  it("knows the master key", () => {
    expect(authority.identify("master-key-of-24-letters")).toMatchObject({ kind: "master" });
  });

  it.each(["", "sk-c", "sk-ci ", "SK-CI", "CI_KEY", "[secret:CI_KEY]"])(
    "does not know %j",
    async (presented) => {
      expect(await authority.identify(presented)).toBeUndefined();
    },
  );

  it("forgets a declared key with the snapshot that declared it", async () => {
    expect(await createAuthority(snapshotOf(), ring).identify("sk-ci")).toBeUndefined();
  });
});
