import { describe, expect, it } from "vitest";
import type {
  Exchange,
  JsonObject,
  Model,
  ProviderCatalog,
  ProviderInstance,
  Target,
} from "@sluice/contract";
import {
  fakeClient,
  fakeExchange,
  fakeIdentity,
  fakeRequest,
  fakeTarget,
  type FakeExchangeParts,
} from "@sluice/testing";
import { writtenDocument } from "@sluice/kit/internals";
import { setCallHeader } from "@sluice/runtime/transport";
import type { CacheScope } from "./config.ts";
import { createCacheKeys } from "./key.ts";

const providersOf = (identity: string): ProviderCatalog => ({
  find: (name) =>
    ({ name, identity, translation: { dialects: ["own"] } }) as unknown as ProviderInstance,
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

function keyOf(
  parts: FakeExchangeParts = {},
  scope: CacheScope = "key",
  identity = "a",
  namespace = "",
): string {
  const exchange = fakeExchange({
    identity: fakeIdentity({ teamId: "t", userId: "u" }),
    model: modelOf(fakeTarget()),
    request: fakeRequest(BODY),
    ...parts,
  });
  return createCacheKeys(scope, providersOf(identity)).of(exchange, namespace);
}

/** A request that a face has translated: of the document, members are lost in the translation. */
function faced(
  value: JsonObject,
  { dialect = "own", headers = {} }: { dialect?: string; headers?: Record<string, string> } = {},
): string {
  const request = fakeRequest(BODY);
  const { document: translated } = request;
  const document = writtenDocument(value);
  const native = { dialect, document, translated, only: [], hints: [], headers };
  return keyOf({ request: { ...request, native } });
}

describe("the key of a request of a face", () => {
  it("depends on the client's own document, where an upstream may get it", () => {
    const key = faced({ a: 1 });
    expect(faced({ a: 2 })).not.toBe(key);
    expect(faced({ a: 1 }, { headers: { "a-beta": "b" } })).not.toBe(key);
    expect(faced({ a: 1, model: "m", stream: true, metadata: { user_id: "u" } })).toBe(key);
    expect(faced({ a: 1 }, { dialect: "other" })).toBe(faced({ a: 2 }, { dialect: "other" }));
  });
});

describe("the key of a request", () => {
  it.each<[string, FakeExchangeParts]>([
    [
      "stream and its options",
      { request: fakeRequest({ ...BODY, stream: true, stream_options: { include_usage: true } }) },
    ],
    ["user", { request: fakeRequest({ ...BODY, user: "alice" }) }],
    [
      "the gateway's own fields",
      { request: fakeRequest(BODY, { fields: { caching: true, timeout: 3, tags: ["a"] } }) },
    ],
    ["the time", { startedAtMs: 7 }],
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
      keyOf({
        model: modelOf({ ...fakeTarget(), forwardMetadata: true }),
        request: fakeRequest(BODY, { metadata: { a: 1 } }),
      }),
    ],
  ])("is another for another %s", (_what, key) => {
    expect(key).not.toBe(keyOf());
  });

  it.each<[CacheScope, boolean, boolean, boolean]>([
    ["key", false, false, false],
    ["user", true, false, false],
    ["team", true, true, false],
    ["global", true, true, true],
  ])(
    "is shared in the scope %s: by a user %s, by a team %s, by all %s",
    (scope, ofUser, ofTeam, ofAll) => {
      const own = keyOf({}, scope);
      const keyFor = (teamId: string, userId: string) =>
        keyOf({ identity: fakeIdentity({ keyId: "key-2", teamId, userId }) }, scope);
      expect(
        [keyFor("t", "u"), keyFor("t", "v"), keyFor("s", "v")].map((key) => key === own),
      ).toEqual([ofUser, ofTeam, ofAll]);
    },
  );

  it("is the key's own in a wider scope that the key has no part in", () => {
    const alone = (keyId: string) => keyOf({ identity: fakeIdentity({ keyId }) }, "team");
    expect(alone("key-1")).not.toBe(alone("key-2"));
  });
});

describe("headers in the key of a request", () => {
  const providers: ProviderCatalog = {
    find: (name) => {
      const passHeaders = name === "openai" ? ["openai-beta", "traceparent"] : ["x-region"];
      const translation = {};
      return { name, identity: "a", passHeaders, translation } as unknown as ProviderInstance;
    },
    names: () => ["openai", "azure"],
  };
  const keys = createCacheKeys("global", providers);
  const asked = (headers: Readonly<Record<string, string>>): Exchange =>
    fakeExchange({
      identity: fakeIdentity(),
      model: modelOf(fakeTarget()),
      request: fakeRequest(BODY),
      client: fakeClient(headers),
    });
  const keyWith = (headers: Readonly<Record<string, string>>): string =>
    keys.of(asked(headers), "");

  it("count where a provider of the model forwards them", () => {
    expect(keyWith({ "openai-beta": "v2" })).not.toBe(keyWith({}));
    expect(keyWith({ "openai-beta": "v2" })).not.toBe(keyWith({ "openai-beta": "v1" }));
    expect(keyWith({ "openai-beta": "v2" })).toBe(keyWith({ "openai-beta": "v2" }));
  });

  it.each([
    ["belongs to another provider", "x-region"],
    ["goes nowhere", "x-other"],
    ["carries a trace", "traceparent"],
    ["is not forwarded for its value", "openai-beta"],
  ])("do not count where a header %s", (_what, name) => {
    expect(keyWith({ [name]: name === "openai-beta" ? "\u00e9" : "1" })).toBe(keyWith({}));
  });

  it("tell twins apart by those of every provider: a stand-in may answer them", () => {
    const flight = (headers: Readonly<Record<string, string>>): string =>
      keys.flightOf(asked(headers), "k");
    expect(flight({ "x-region": "eu" })).not.toBe(flight({ "x-region": "us" }));
    expect(flight({ "x-other": "1" })).toBe(flight({}));
  });

  it("count where a step adds them", () => {
    const exchange = asked({});
    setCallHeader(exchange, "traceparent", "00-1");
    expect(keys.of(exchange, "")).toBe(keyWith({}));
    setCallHeader(exchange, "x-tenant", "blue");
    expect(keys.of(exchange, "")).not.toBe(keyWith({}));
  });
});
