import { describe, expect, it } from "vitest";
import type { Exchange, Model, ProviderCatalog, ProviderInstance, Target } from "@sluice/spec";
import { fakeExchange, fakeIdentity, fakeRequest, fakeTarget } from "@sluice/kit/testing";
import type { CacheScope } from "./cache-config.ts";
import { createCacheKeys } from "./cache-key.ts";

const providersOf = (identity: string): ProviderCatalog => ({
  find: (name) => ({ name, identity }) as ProviderInstance,
  names: () => ["openai"],
});
const modelOf = (...targets: readonly Target[]): Model => ({
  id: "m",
  entry: "m",
  mode: "chat",
  targets,
  accessGroups: [],
  ownedBy: "openai",
});
const BODY = { model: "m", messages: [{ role: "user", content: "Hello" }], temperature: 1 };

function keyOf(parts: Partial<Exchange> = {}, scope: CacheScope = "key", identity = "a", namespace = ""): string {
  const exchange = fakeExchange({
    identity: fakeIdentity({ teamId: "t", userId: "u" }),
    model: modelOf(fakeTarget()),
    request: fakeRequest(BODY),
    ...parts,
  });
  return createCacheKeys(scope, providersOf(identity)).of(exchange, namespace);
}

describe("the key of a request", () => {
  it.each<[string, Partial<Exchange>]>([
    ["stream and its options", { request: fakeRequest({ ...BODY, stream: true, stream_options: { include_usage: true } }) }],
    ["user", { request: fakeRequest({ ...BODY, user: "alice" }) }],
    ["the gateway's own fields", { request: fakeRequest(BODY, { fields: { caching: true, timeout: 3, tags: ["a"] } }) }],
    ["the generation", { generation: 7 }],
    ["the weight of a target", { model: modelOf({ ...fakeTarget(), weight: 3 }) }],
  ])("does not depend on %s", (_what, parts) => {
    expect(keyOf(parts)).toBe(keyOf());
  });

  it.each<[string, string]>([
    ["key", keyOf({ identity: fakeIdentity({ keyId: "key-2", teamId: "t", userId: "u" }) })],
    ["operation", keyOf({ operation: "images" })],
    ["namespace", keyOf({}, "key", "a", "n")],
    ["parameter", keyOf({ request: fakeRequest({ ...BODY, temperature: 0 }) })],
    ["upstream model", keyOf({ model: modelOf(fakeTarget("openai", "other")) })],
    ["provider", keyOf({ model: modelOf(fakeTarget("azure")) })],
    ["further target", keyOf({ model: modelOf(fakeTarget(), fakeTarget("azure")) })],
    ["configuration of the provider", keyOf({}, "key", "b")],
    ["drop_params", keyOf({ request: fakeRequest(BODY, { fields: { drop_params: true } }) })],
    [
      "metadata that goes to the provider",
      keyOf({ model: modelOf({ ...fakeTarget(), forwardMetadata: true }), request: fakeRequest(BODY, { metadata: { a: 1 } }) }),
    ],
  ])("is another for another %s", (_what, key) => {
    expect(key).not.toBe(keyOf());
  });

  it.each<[CacheScope, boolean, boolean, boolean]>([
    ["key", false, false, false],
    ["user", true, false, false],
    ["team", true, true, false],
    ["global", true, true, true],
  ])("is shared in the scope %s: by a user %s, by a team %s, by all %s", (scope, ofUser, ofTeam, ofAll) => {
    const own = keyOf({}, scope);
    const keyFor = (teamId: string, userId: string) =>
      keyOf({ identity: fakeIdentity({ keyId: "key-2", teamId, userId }) }, scope);
    expect([keyFor("t", "u"), keyFor("t", "v"), keyFor("s", "v")].map((key) => key === own)).toEqual([ofUser, ofTeam, ofAll]);
  });

  it("is the key's own in a wider scope that the key has no part in", () => {
    const alone = (keyId: string) => keyOf({ identity: fakeIdentity({ keyId }) }, "team");
    expect(alone("key-1")).not.toBe(alone("key-2"));
  });
});
