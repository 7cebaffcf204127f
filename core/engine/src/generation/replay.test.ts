import { describe, expect, it } from "vitest";
import { Secret } from "@sluice/spec";
import type { Snapshot } from "../config/snapshot.ts";
import { line, modelOf, pipelineOf, providerOf, snapshotOf } from "../pipeline/snapshot.fixture.ts";
import { RequestShapes, SHAPE, type ShapeUse } from "../resources/request-shapes.ts";
import { countOf, replay } from "./replay.ts";

const CHAT = { method: "POST", path: "/v1/chat/completions" };
const NATIVE = { method: "POST", path: "/{provider}/{endpoint...}" };
const MODELS = { method: "GET", path: "/v1/models" };

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
    pipelineOf(["auth", "passthrough"], { name: "native", operation: "passthrough", routes: [{ ...NATIVE, at: line(3) }] }),
    pipelineOf(["auth", "models"], { name: "models", operation: "models", routes: [{ ...MODELS, at: line(3) }] }),
  ],
});

const use = (promptTokens: number | null): ShapeUse => ({ promptTokens, completionTokens: null, costNanoUsd: null });
/** No request of the traffic has a price, and 10 of them are refused before and after. */
const spend = { requests: 0, didCostNanoUsd: 0, wouldCostNanoUsd: { least: 0, most: 0 }, refusedNanoUsd: 0, unknown: 100 };

/** 100 requests: 50 gpt, 20 small by the declared key, 10 wildcards, 10 unknown models, 5 native, 5 lists. */
function traffic() {
  const shapes = new RequestShapes(100);
  const key = { kind: "key" as const, keyId: "k1", models: [] };
  const ci = { kind: "key" as const, keyId: "yaml:ci", models: ["default"] };
  for (let count = 0; count < 50; count += 1) shapes.add(CHAT, "gpt", "", key, count < 10 ? SHAPE.tools : 0, use(100 + count));
  for (let count = 0; count < 20; count += 1) shapes.add(CHAT, "small", "", ci, SHAPE.stream, use(10));
  for (let count = 0; count < 10; count += 1) shapes.add(CHAT, `groq/llama-${count % 2}`, "", key, 0, use(null));
  for (let count = 0; count < 10; count += 1) shapes.add(CHAT, "new", "", key, 0, use(null));
  for (let count = 0; count < 5; count += 1) shapes.add(NATIVE, "", "azure", key, 0, use(5));
  for (let count = 0; count < 5; count += 1) shapes.add(MODELS, "", "", ci, 0, use(null));
  return shapes.list();
}

const tried = (parts: Partial<Snapshot>) => replay(traffic(), live, { ...live, digest: "2", ...parts });

describe("replay", () => {
  it("finds nothing in an edit that changes nothing", () => {
    const none = { blocked: [], admitted: [], provider: [], model: [], steps: [], unfit: [] };
    expect(tried({})).toEqual({ evaluated: 100, ...none, spend });
  });

  it("counts who would be refused, and why", () => {
    const [, small, groq] = live.models;
    expect(tried({ models: [{ ...small!, accessGroups: [] }, groq!] }).blocked).toEqual([
      { what: "there is no model gpt", count: 50 },
      { what: "the key yaml:ci may not use small", count: 20 },
    ]);
    expect(tried({ keys: [] }).blocked).toEqual([{ what: "the key yaml:ci is not declared", count: 25 }]);
    expect(tried({ pipelines: live.pipelines.slice(0, 1) }).blocked).toEqual([
      { what: "the route POST /{provider}/{endpoint...} is not served", count: 5 },
      { what: "the route GET /v1/models is not served", count: 5 },
    ]);
    const away = live.providers.map((provider) => ({ ...provider, missing: provider.name === "openai" ? [] : ["${env:K}"] }));
    expect(tried({ providers: away }).blocked).toEqual([
      { what: "the model groq/llama-0 has no target that is available", count: 5 },
      { what: "the model groq/llama-1 has no target that is available", count: 5 },
      { what: "the provider azure is not available", count: 5 },
    ]);
  });

  it("counts who would be served otherwise", () => {
    const seen = tried({
      models: [
        modelOf("gpt", ["openai/gpt", "azure/gpt"]),
        modelOf("small", ["openai/tiny"], { accessGroups: ["default"] }),
        modelOf("*", ["groq/*"]),
      ],
      pipelines: [pipelineOf(["auth", "limits", "provider"]), ...live.pipelines.slice(1)],
    });
    expect(seen.provider).toEqual([{ what: "gpt: openai -> azure, openai", count: 50 }]);
    expect(seen.model).toEqual([
      { what: "small: openai/small -> openai/tiny", count: 20 },
      { what: "groq/llama-0: groq/llama-0 -> groq/groq/llama-0", count: 5 },
      { what: "groq/llama-1: groq/llama-1 -> groq/groq/llama-1", count: 5 },
    ]);
    expect(seen.admitted).toEqual([{ what: "there is no model new", count: 10 }]);
    expect(seen.steps).toEqual([{ what: "POST /v1/chat/completions: without cache, with limits", count: 80 }]);
    expect(countOf(seen.steps)).toBe(80);
  });

  it("counts who would ask a model for what it is said not to do", () => {
    const [, ...rest] = live.models;
    const info = { maxInputTokens: 120, supports: { supports_function_calling: false } };
    expect(tried({ models: [modelOf("gpt", ["openai/gpt"], { info }), ...rest] }).unfit).toEqual([
      { what: "prompts longer than the 120 tokens of gpt", count: 40 },
      { what: "tools, which gpt has not", count: 10 },
    ]);
  });

  it("tells the most frequent reasons one by one, and the rest as one", () => {
    const shapes = new RequestShapes(100);
    for (let count = 0; count < 30; count += 1)
      shapes.add(CHAT, `groq/m${count}`, "", { kind: "master", keyId: "master", models: [] }, 0, use(1));
    const { blocked } = replay(shapes.list(), live, { ...live, models: live.models.slice(0, 2) });
    expect(blocked).toHaveLength(21);
    expect(blocked.at(-1)).toEqual({ what: "10 more reasons", count: 10 });
  });
});
