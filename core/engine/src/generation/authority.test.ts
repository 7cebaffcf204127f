import { describe, expect, it } from "vitest";
import { type KeyStore, type Model, Secret } from "@sluice/spec";
import { fakeClock, fakeIdentity } from "@sluice/kit/testing";
import { AT, snapshotOf } from "../pipeline/snapshot.fixture.ts";
import { KeyRing } from "../resources/key-ring.ts";
import { createAuthority, mayUse } from "./authority.ts";

const model: Model = { id: "openai/o3", entry: "openai/*", mode: "chat", targets: [], accessGroups: ["big"], ownedBy: "openai" };

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

describe("the authority of a snapshot", () => {
  const keys = { findByDigest: async () => undefined } as unknown as KeyStore;
  const ring = new KeyRing({ pepper: Buffer.from("pepper"), masterKey: "master-key-of-24-letters", keys, clock: fakeClock() });
  const declared = {
    alias: "ci",
    key: new Secret("CI_KEY", "sk-ci"),
    models: ["echo"],
    userId: undefined,
    teamId: "t",
    tags: ["x"],
    metadata: {},
    at: AT,
  };
  const authority = createAuthority(snapshotOf({ keys: [declared] }), ring);

  it("knows the keys that the configuration declares", () => {
    expect(authority.identify("sk-ci")).toMatchObject({
      kind: "key",
      keyId: "yaml:ci",
      teamId: "t",
      models: ["echo"],
      tags: ["x"],
    });
  });

  it("knows the master key", () => {
    expect(authority.identify("master-key-of-24-letters")).toMatchObject({ kind: "master" });
  });

  it.each(["", "sk-c", "sk-ci ", "SK-CI", "CI_KEY", "[secret:CI_KEY]"])("does not know %j", async (presented) => {
    expect(await authority.identify(presented)).toBeUndefined();
  });

  it("forgets a declared key with the snapshot that declared it", async () => {
    expect(await createAuthority(snapshotOf(), ring).identify("sk-ci")).toBeUndefined();
  });
});
