import { describe, expect, it } from "vitest";
import type { Identity, KnownModel, Model, Provider, Target } from "@sluice/contract";
import { type FakeClock, fakeClient, fakeExchange, fakeHost, fakeIdentity } from "@sluice/testing";
import { models } from "./index.ts";
import { modelInfo } from "./info.ts";

const target = (text: string): Target => {
  const [provider = "", model = ""] = text.split("/");
  return { id: text, provider, model };
};

function model(id: string, targets: readonly string[], parts: Partial<Model> = {}): Model {
  return {
    id,
    entry: id,
    mode: "chat",
    targets: targets.map(target),
    accessGroups: [],
    ownedBy: "main",
    ...parts,
  };
}

const fallbacks = { general: ["b", "secret"], context_window: ["big"], content_policy: [] };
const ENTRIES: readonly Model[] = [
  model("a", ["main/gpt-a"], {
    fallbacks,
    accessGroups: ["small", "mixed"],
    info: { maxOutputTokens: 9, supports: { supports_vision: true } },
  }),
  model("b", ["main/gpt-b"], { accessGroups: ["small"] }),
  model("secret", ["main/gpt-s"], { accessGroups: ["mixed"] }),
  model("big", [], { accessGroups: ["small"] }),
  model("m/*", ["main/*"], { accessGroups: ["wild"] }),
  model("m/gpt-b*", ["main/gpt-b*"]),
  model("m/gpt-a", ["main/gpt-a"]),
];
const KNOWN: readonly KnownModel[] = ["gpt-a", "gpt-b", "gpt-b2", "gpt-c", "embed"].map((name) => ({
  name,
  mode: name === "embed" ? "embedding" : "chat",
  contextWindow: name === "gpt-a" ? 1_000 : undefined,
}));

function find(id: string): Model | undefined {
  const exact = ENTRIES.find((entry) => entry.id === id && !id.endsWith("*"));
  if (exact !== undefined) return exact;
  const wildcard = [...ENTRIES]
    .sort((left, right) => right.id.length - left.id.length)
    .find(
      (entry) =>
        entry.id.endsWith("*") &&
        id.length >= entry.id.length &&
        id.startsWith(entry.id.slice(0, -1)),
    );
  const rest = id.slice((wildcard?.id.length ?? 1) - 1);
  if (wildcard === undefined) return undefined;
  return {
    ...wildcard,
    id,
    targets: wildcard.targets.map(({ id: text }) => target(text.replace("*", rest))),
  };
}

const names = (list: readonly string[], { id, entry, accessGroups }: Model): boolean =>
  list.length === 0 ||
  list.some((name) => name === id || name === entry || accessGroups.includes(name));
const capabilities = { operations: ["chat"], streaming: true, tools: false } as const;
const host = fakeHost({
  models: { find, list: () => ENTRIES.filter(({ targets }) => targets.length > 0) },
  authority: {
    headerNames: [],
    customerHeaders: [],
    customerOf: () => undefined,
    identify: () => undefined,
    keyIdOf: async () => undefined,
    foreignTag: () => undefined,
    teamModels: async (teamId) => (teamId === "red" ? ["b"] : undefined),
    mayUse: (identity, one) =>
      names(identity.models, one) && (identity.modelBounds ?? []).every((list) => names(list, one)),
  },
  providers: {
    names: () => ["main"],
    find: (name) => ({
      name,
      use: "openai",
      translation: { capabilities } as unknown as Provider,
      timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1 },
      connections: 1,
    }),
  },
  prices: {
    find: (_use, name) =>
      name === "gpt-a" ? { input: 150_000, output: 600_000, source: "test" } : undefined,
  },
  directory: {
    list: () => KNOWN,
    find: (_use, name) => KNOWN.find((known) => known.name === name),
  },
});

const MASTER = fakeIdentity({ kind: "master", keyId: "master" });
const OF_TEAM = fakeIdentity({ teamId: "red", modelBounds: [["a", "b"]] });

async function ask(
  query = "",
  identity: Identity | undefined = MASTER,
  parts: { id?: string; step?: "model-info" } = {},
) {
  const parameters = parts.id === undefined ? {} : { model_id: parts.id };
  const exchange = fakeExchange({
    operation: "models",
    client: fakeClient({}, { method: "GET", query, parameters }),
    ...(identity !== undefined && { identity }),
  });
  const step = parts.step === "model-info" ? modelInfo : models;
  await step.create({}, host).run({ exchange }, async () => undefined);
  return (exchange.reply as unknown as { document: { value: { data: Record<string, unknown>[] } } })
    .document.value;
}

const idsOf = async (query?: string, identity?: Identity) =>
  (await ask(query, identity)).data.map(({ id }) => id);

describe("the list of models", () => {
  it("holds each model once: entries, and what wildcards are known to match", async () => {
    // gpt-b2 belongs to the longer wildcard, which does not match nothing, and gpt-a to its entry;
    // the embedding is of another kind.
    expect(await idsOf()).toEqual([
      "a",
      "b",
      "secret",
      "m/gpt-b",
      "m/gpt-c",
      "m/gpt-b2",
      "m/gpt-a",
    ]);
  });

  it("has items of four members, the same on every day", async () => {
    const [first] = (await ask()).data;
    expect(first).toEqual({ id: "a", object: "model", created: 1_677_610_602, owned_by: "main" });
    (host.clock as FakeClock).advance(86_400_000);
    expect((await ask()).data[0]).toEqual(first);
  });

  it("adds wildcards where they are asked for", async () => {
    expect(await idsOf("return_wildcard_routes=True")).toEqual([
      ...(await idsOf()),
      "m/*",
      "m/gpt-b*",
    ]);
    expect(await idsOf("return_wildcard_routes=0")).toEqual(await idsOf());
  });

  it("shows a key what it may use, with a name of its own that only a wildcard serves", async () => {
    expect(await idsOf("", fakeIdentity({ models: ["small", "m/mine", "none", "big"] }))).toEqual([
      "a",
      "b",
      "m/mine",
    ]);
    expect(await idsOf("return_wildcard_routes=1", fakeIdentity({ models: ["m/*"] }))).toEqual([
      "m/gpt-b",
      "m/gpt-c",
      "m/*",
    ]);
  });

  it("adds groups of which the key may use every model, or gives them alone", async () => {
    const key = fakeIdentity({ models: ["a", "b"] });
    expect(await idsOf("include_model_access_groups=yes", key)).toEqual(["a", "b", "small"]);
    expect(await idsOf("only_model_access_groups=true", key)).toEqual(["small"]);
    expect(
      await idsOf(
        "only_model_access_groups=true&include_model_access_groups=false&return_wildcard_routes=1",
      ),
    ).toEqual(["small", "mixed", "wild"]);
    expect(
      await idsOf("only_model_access_groups=1", fakeIdentity({ models: ["m/gpt-a"] })),
    ).toEqual([]);
  });

  it("shows a team's models to its members and to the master key", async () => {
    expect(await idsOf("team_id=red", OF_TEAM)).toEqual(["a", "b"]);
    expect(await idsOf("team_id=red")).toEqual(["b"]);
    await expect(ask("team_id=blue")).rejects.toMatchObject({
      code: "not_found",
      param: "team_id",
    });
    for (const identity of [OF_TEAM, fakeIdentity()]) {
      await expect(ask("team_id=blue", identity)).rejects.toMatchObject({
        code: "permission_denied",
        param: "team_id",
      });
    }
  });

  it("tells fallbacks of the class that is asked for, to those who may use them", async () => {
    const metadata = async (query: string, identity?: Identity) =>
      (await ask(query, identity)).data[0]?.metadata;
    expect(await metadata("include_metadata=true")).toEqual({
      fallbacks: ["b", "secret"],
      mode: "chat",
      access_groups: ["small", "mixed"],
      pricing: { input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7 },
      context_window: 1_000,
    });
    const key = fakeIdentity({ models: ["a", "b"] });
    expect(await metadata("include_metadata=true", key)).toMatchObject({
      fallbacks: ["b"],
      access_groups: ["small"],
    });
    // `big` has no target that is available.
    expect(await metadata("include_metadata=true&fallback_type=context_window")).toMatchObject({
      fallbacks: [],
    });
    expect(await metadata("fallback_type=general")).toBeUndefined();
  });

  it("gives null for what it does not know", async () => {
    const { data } = await ask("include_metadata=true&include_model_access_groups=true");
    expect(data.find(({ id }) => id === "b")?.metadata).toMatchObject({
      fallbacks: [],
      pricing: null,
      context_window: null,
    });
    expect(data.at(-1)).toMatchObject({
      id: "wild",
      object: "model",
      metadata: { mode: null, pricing: null },
    });
  });

  it.each([
    "return_wildcard_routes",
    "include_model_access_groups",
    "only_model_access_groups",
    "include_metadata",
  ])("refuses a %s that is no boolean", async (name) => {
    for (const value of ["", "maybe", "2", "null"]) {
      await expect(ask(`${name}=${value}`)).rejects.toMatchObject({
        code: "invalid_field",
        param: name,
      });
    }
  });

  it("refuses another class of fallbacks, and ignores what it does not know", async () => {
    await expect(ask("fallback_type=other")).rejects.toMatchObject({
      code: "invalid_field",
      param: "fallback_type",
    });
    expect(await idsOf("scope=all&page=2")).toEqual(await idsOf());
  });
});

describe("one model", () => {
  it("is found under its raw and its encoded id, with metadata", async () => {
    const raw = await ask("", MASTER, { id: "m/gpt-a" });
    expect(raw).toMatchObject({
      id: "m/gpt-a",
      object: "model",
      owned_by: "main",
      metadata: { context_window: 1_000 },
    });
    expect(await ask("", MASTER, { id: "m%2Fgpt-a" })).toEqual(raw);
    expect(await ask("", MASTER, { id: "m/anything" })).toMatchObject({ id: "m/anything" });
  });

  it("is refused alike when it is unknown, forbidden and unavailable", async () => {
    const key = fakeIdentity({ models: ["a"] });
    const refusal = (id: string) =>
      ask("", key, { id }).catch((error: Error) => error.message.replace(JSON.stringify(id), "?"));
    const all = await Promise.all(["none", "b", "big", "%zz"].map(refusal));
    expect(new Set(all)).toEqual(new Set(["The model ? does not exist or you may not use it."]));
    await expect(ask("", key, { id: "b" })).rejects.toMatchObject({
      code: "model_not_found",
      param: "model",
    });
  });
});

describe("the details of models", () => {
  it("are prices, limits and capabilities, and the operator's word", async () => {
    const { data } = await ask("", MASTER, { step: "model-info" });
    expect(data[0]).toEqual({
      model_name: "a",
      litellm_params: { model: "main/gpt-a" },
      targets: [{ provider: "main", model: "gpt-a" }],
      model_info: {
        id: "a",
        mode: "chat",
        max_input_tokens: 1_000,
        max_output_tokens: 9,
        input_cost_per_token: 1.5e-7,
        output_cost_per_token: 6e-7,
        supports_function_calling: false,
        supports_native_streaming: true,
        supports_vision: true,
      },
    });
    expect(data.map((item) => item.model_name)).toEqual(await idsOf());
  });

  it("are those of one model or target by litellm_model_id", async () => {
    const of = async (id: string) =>
      (await ask(`litellm_model_id=${id}`, MASTER, { step: "model-info" })).data;
    expect(await of("b")).toMatchObject([
      { model_name: "b", model_info: { input_cost_per_token: null } },
    ]);
    expect((await of("main/gpt-a")).map((item) => item.model_name)).toEqual(["a", "m/gpt-a"]);
    await expect(of("none")).rejects.toMatchObject({
      code: "invalid_field",
      param: "litellm_model_id",
    });
  });
});
