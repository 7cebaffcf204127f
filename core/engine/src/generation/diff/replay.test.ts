import { describe, expect, it } from "vitest";
import { Secret, type SpendRow } from "@sluice/contract";
import type { Snapshot } from "../../config/snapshot.ts";
import {
  line,
  modelOf,
  pipelineOf,
  providerOf,
  snapshotOf,
} from "../../pipeline/snapshot.fixture.ts";
import { readRequestGroups } from "./ledger-requests.ts";
import { rowOf, sourcesOf } from "./ledger-rows.fixture.ts";
import { countOf, replay } from "./replay.ts";

const NATIVE = { method: "POST", path: "/{provider}/{endpoint...}" };
const IMAGES = { method: "POST", path: "/v1/images/generations" };

const declared = (models: readonly string[]) => ({
  alias: "ci",
  key: new Secret("env:K", "value"),
  models,
  userId: undefined,
  teamId: undefined,
  spendScope: "key" as const,
  tags: [],
  metadata: {},
  guardrails: [],
  at: line(30),
});

const live = snapshotOf({
  providers: ["openai", "azure", "groq"].map((name) => providerOf(name)),
  models: [
    modelOf("gpt", ["openai/gpt"]),
    modelOf("small", ["openai/small"], { accessGroups: ["default"] }),
    modelOf("groq/*", ["groq/*"]),
  ],
  keys: [declared(["default"])],
  pipelines: [
    pipelineOf(["auth", "cache", "provider"]),
    pipelineOf(["auth", "passthrough"], {
      name: "native",
      operation: "passthrough",
      routes: [{ ...NATIVE, at: line(3) }],
    }),
    pipelineOf(["auth", "provider"], {
      name: "images",
      operation: "images",
      routes: [{ ...IMAGES, at: line(3) }],
    }),
  ],
});

/** No request of the traffic has a price, and 10 of them are refused before and after. */
const spend = {
  requests: 0,
  didCostNanoUsd: 0,
  wouldCostNanoUsd: { least: 0, most: 0 },
  refusedNanoUsd: 0,
  unknown: 100,
};

/**
 * 100 requests: 50 gpt, 20 small by the declared key, 10 wildcards, 10 unknown models, 5 native, 5
 * images by the declared key.
 */
function traffic() {
  const times = (count: number, parts: (index: number) => Partial<SpendRow>) =>
    Array.from({ length: count }, (_, index) => rowOf(parts(index)));
  const rows = [
    ...times(50, (index) => ({ promptTokens: 100 + index })),
    ...times(20, () => ({ model: "small", keyId: "yaml:ci", promptTokens: 10 })),
    ...times(10, (index) => ({ model: `groq/llama-${index % 2}` })),
    ...times(10, () => ({ model: "new", attempt: 0, targetId: null })),
    ...times(5, () => ({
      model: "",
      callType: "passthrough",
      targetId: "azure/gpt-4o",
      promptTokens: 5,
    })),
    ...times(5, () => ({ model: "small", callType: "images", keyId: "yaml:ci" })),
  ];
  return readRequestGroups(sourcesOf(rows.toReversed()));
}

const tried = async (parts: Partial<Snapshot>) =>
  replay(await traffic(), live, { ...live, digest: "2", ...parts });

describe("replay", () => {
  it("finds nothing in an edit that changes nothing", async () => {
    const none = { blocked: [], admitted: [], provider: [], model: [], steps: [], unfit: [] };
    expect(await tried({})).toEqual({ evaluated: 100, ...none, spend });
  });

  it("counts who would be refused, and why", async () => {
    const [, small, groq] = live.models;
    expect((await tried({ models: [{ ...small!, accessGroups: [] }, groq!] })).blocked).toEqual([
      { what: "there is no model gpt", count: 50 },
      { what: "the key yaml:ci may not use small", count: 25 },
    ]);
    expect((await tried({ keys: [] })).blocked).toEqual([
      { what: "the key yaml:ci is not declared", count: 25 },
    ]);
    expect((await tried({ pipelines: live.pipelines.slice(0, 1) })).blocked).toEqual([
      { what: "no route serves passthrough", count: 5 },
      { what: "no route serves images", count: 5 },
    ]);
    const away = live.providers.map((provider) => ({
      ...provider,
      missing: provider.name === "openai" ? [] : ["${env:K}"],
    }));
    expect((await tried({ providers: away })).blocked).toEqual([
      { what: "the model groq/llama-0 has no target that is available", count: 5 },
      { what: "the model groq/llama-1 has no target that is available", count: 5 },
      { what: "the provider azure is not available", count: 5 },
    ]);
  });

  it("counts who would be served otherwise", async () => {
    const seen = await tried({
      models: [
        modelOf("gpt", ["openai/gpt", "azure/gpt"]),
        modelOf("small", ["openai/tiny"], { accessGroups: ["default"] }),
        modelOf("*", ["groq/*"]),
      ],
      pipelines: [pipelineOf(["auth", "limits", "provider"]), ...live.pipelines.slice(1)],
    });
    expect(seen.provider).toEqual([{ what: "gpt: openai -> azure, openai", count: 50 }]);
    expect(seen.model).toEqual([
      { what: "small: openai/small -> openai/tiny", count: 25 },
      { what: "groq/llama-0: groq/llama-0 -> groq/groq/llama-0", count: 5 },
      { what: "groq/llama-1: groq/llama-1 -> groq/groq/llama-1", count: 5 },
    ]);
    expect(seen.admitted).toEqual([{ what: "there is no model new", count: 10 }]);
    expect(seen.steps).toEqual([{ what: "chat: without cache, with limits", count: 80 }]);
    expect(countOf(seen.steps)).toBe(80);
  });

  it("names the pipelines of a call type that several serve: a row does not say which one it was", async () => {
    const [chat, ...others] = live.pipelines;
    const routes = [{ method: "POST", path: "/v2/chat", at: line(3) }];
    const second = pipelineOf(["provider"], { name: "second", routes });
    expect((await tried({ pipelines: [chat!, second, ...others] })).steps).toEqual([
      {
        what: "chat: without auth, cache, provider, with chat/auth, chat/cache, chat/provider, second/provider",
        count: 80,
      },
    ]);
  });

  it("counts the prompts that are longer than a model's info allows", async () => {
    const [, ...rest] = live.models;
    const info = { maxInputTokens: 120, supports: {} };
    expect(
      (await tried({ models: [modelOf("gpt", ["openai/gpt"], { info }), ...rest] })).unfit,
    ).toEqual([{ what: "prompts longer than the 120 tokens of gpt", count: 29 }]);
  });

  it("tells the most frequent reasons one by one, and the rest as one", async () => {
    const rows = Array.from({ length: 30 }, (_, index) =>
      rowOf({ model: `groq/m${index}`, keyId: "master" }),
    );
    const groups = await readRequestGroups(sourcesOf(rows));
    const { blocked } = replay(groups, live, { ...live, models: live.models.slice(0, 2) });
    expect(blocked).toHaveLength(21);
    expect(blocked.at(-1)).toEqual({ what: "10 more reasons", count: 10 });
  });
});
