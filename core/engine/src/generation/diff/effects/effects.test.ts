import { describe, expect, it } from "vitest";
import { Secret } from "@sluice/contract";
import type { DeclaredKey, GuardrailUseSettings, Snapshot } from "../../../config/snapshot.ts";
import {
  AT,
  line,
  modelOf,
  pipelineOf,
  providerOf,
  snapshotOf,
  stepOf,
  stepsOf,
} from "../../../pipeline/snapshot.fixture.ts";
import { formatEffect, summaryOf } from "./effect.ts";
import { effectsOf } from "./effects.ts";

const definitions = stepsOf(
  stepOf("auth", { order: { provides: ["identity"] } }),
  stepOf("own-auth", { order: { provides: ["identity"] } }),
  stepOf("limits", { order: { provides: ["budgets"] } }),
  ...["guardrails", "cache", "cost", "fallback", "provider"].map((name) => stepOf(name)),
);

const key = (alias: string, parts: Partial<DeclaredKey> = {}): DeclaredKey => ({
  alias,
  key: new Secret("env:K", `sk-${alias}`),
  models: [],
  userId: undefined,
  teamId: undefined,
  spendScope: "key",
  tags: [],
  metadata: {},
  guardrails: [],
  at: line(30),
  ...parts,
});

const guardrail = (
  name: string,
  settings: Partial<GuardrailUseSettings["settings"]> = {},
): GuardrailUseSettings => ({
  name,
  use: "pii",
  options: {},
  at: AT,
  onlyNamed: false,
  worker: { threads: 2, heapBytes: 1_000_000 },
  settings: {
    defaultOn: true,
    mode: "enforce",
    onError: "fail",
    budgetMs: 1_000,
    isolation: "inline",
    ...settings,
  },
});

const routes = ["/v1/chat/completions", "/chat/completions"].map((path) => ({
  method: "POST",
  path,
  at: line(3),
}));
const chat = (steps: Parameters<typeof pipelineOf>[0], parts = {}) =>
  pipelineOf(steps, { routes, ...parts });
const limits = (maxBudget: number | null) => ({
  maxBudgetNanoUsd: maxBudget,
  softBudgetNanoUsd: null,
  budgetDuration: "1d",
  rpm: 60,
  tpm: null,
  maxParallelRequests: null,
});

const live = snapshotOf({
  providers: [
    providerOf("openai"),
    providerOf("azure", { options: { api_key: new Secret("env:A", "one"), region: "eu" } }),
  ],
  guardrails: [guardrail("pii")],
  models: [
    modelOf("gpt", ["openai/gpt"], { fallbacks: { general: ["small"] } }),
    modelOf("small", ["openai/small", "azure/small"], { accessGroups: ["default"] }),
    modelOf("openai/*", ["openai/*"]),
  ],
  keys: [key("ci", { models: ["default"], limits: limits(5e9) })],
  pipelines: [
    chat([
      "auth",
      "cost",
      "limits",
      "guardrails",
      { use: "cache", options: { ttl: "10m" } },
      "fallback",
      "provider",
    ]),
    pipelineOf(["auth", "provider"], {
      name: "models",
      routes: [{ method: "GET", path: "/v1/models", at: line(3) }],
    }),
  ],
});

/** The lines of an edit. */
function valueText(parts: Partial<Snapshot>): string[] {
  return effectsOf(live, { ...live, digest: "digest-2", ...parts }, definitions).map(formatEffect);
}

describe("effects", () => {
  it("of a comment: none", () => {
    expect(valueText({})).toEqual([]);
    expect(effectsOf(live, live, definitions)).toEqual([]);
  });

  it("of steps that go, come, move and change, valueText once for all routes of a pipeline", () => {
    const [, models] = live.pipelines;
    const steps = [
      "auth",
      "limits",
      "cost",
      { use: "cache", options: { ttl: "1h" } },
      "provider",
    ] as const;
    expect(valueText({ pipelines: [chat([...steps], { deadlineMs: 60_000 }), models!] })).toEqual([
      "danger   routes POST /v1/chat/completions, POST /chat/completions: loses the step guardrails",
      "caution  routes POST /v1/chat/completions, POST /chat/completions: loses the step fallback",
      "caution  routes POST /v1/chat/completions, POST /chat/completions: step cache, ttl: 10m -> 1h",
      "caution  routes POST /v1/chat/completions, POST /chat/completions: runs its steps in another order: auth, limits, cost, cache, provider",
      "caution  routes POST /v1/chat/completions, POST /chat/completions: deadlineMs: 600000 -> 60000",
    ]);
  });

  it("of another plugin for the same guard, and of routes that come and go", () => {
    const [before] = live.pipelines;
    const open = pipelineOf(["provider"], {
      name: "open",
      routes: [{ method: "GET", path: "/open", at: line(3) }],
    });
    const own = chat(["own-auth", ...before!.steps.slice(1)]);
    expect(valueText({ pipelines: [own, open] })).toEqual([
      "danger   route GET /v1/models: is no longer served",
      "danger   route GET /open: is served by the pipeline open: provider",
      "caution  routes POST /v1/chat/completions, POST /chat/completions: loses the step auth",
      "caution  routes POST /v1/chat/completions, POST /chat/completions: gains the step own-auth",
    ]);
  });

  it("of a guarding step that is only watched from now on", () => {
    const steps = live.pipelines[0]!.steps.map((step) =>
      step.use === "guardrails" ? { ...step, mode: "shadow" } : step,
    );
    expect(valueText({ pipelines: [chat(steps), live.pipelines[1]!] })).toEqual([
      "danger   routes POST /v1/chat/completions, POST /chat/completions: step guardrails, mode: none -> shadow",
    ]);
  });

  it("of models: removed, added, redirected, weighed otherwise, without their stand-ins", () => {
    const small = modelOf("small", ["openai/small", "azure/small"], { accessGroups: ["default"] });
    const weighed = {
      ...small,
      targets: small.targets.map((target, index) =>
        index === 0 ? { ...target, weight: 3 } : target,
      ),
    };
    expect(
      valueText({
        models: [modelOf("gpt", ["azure/gpt-4"]), weighed, modelOf("new", ["openai/new"])],
      }),
    ).toEqual([
      "danger   model openai/*: is removed",
      "danger   model gpt: is redirected from openai to azure",
      "danger   model gpt: fallbacks for general: small -> none",
      "caution  model new: is added, at openai/new; keys without a list of models may use it",
      "caution  model gpt: loses the target openai/gpt",
      "caution  model gpt: gains the target azure/gpt-4",
      "caution  model small: target openai/small, weight: 1 -> 3",
    ]);
    expect(valueText({ models: [...live.models, modelOf("openai/o*", ["azure/o"])] })).toContain(
      "caution  model openai/o*: takes requests that openai/* took",
    );
  });

  it("of keys: the models that each gains or loses, also by a model's groups; limits raised and lifted", () => {
    const [gpt, small, wildcard] = live.models;
    const moved = [
      { ...gpt!, accessGroups: ["default"] },
      { ...small!, accessGroups: [] },
      wildcard!,
    ];
    expect(valueText({ models: moved }).filter((text) => text.includes(" key "))).toEqual([
      "danger   key ci: loses the models small",
      "caution  key ci: gains the models gpt",
    ]);
    expect(
      valueText({ keys: [key("ci", { models: ["default"], limits: limits(50e9) }), key("root")] }),
    ).toEqual([
      "caution  key root: is new and may use every model, without limits",
      "caution  key ci: budget in dollars: 5 -> 50 (raised)",
    ]);
    expect(
      valueText({
        keys: [key("ci", { models: ["default"], limits: { ...limits(null), rpm: 30 } })],
      }),
    ).toEqual([
      "danger   key ci: budget in dollars: 5 -> none (no limit any more)",
      "caution  key ci: requests a minute: 60 -> 30 (lowered)",
    ]);
    const tagged = live.models.map((model) => ({
      ...model,
      matchTags: "any" as const,
      targets: model.targets.map((target) => ({ ...target, tags: ["paid"] })),
    }));
    const routed = valueText({
      models: tagged,
      keys: [key("ci", { ...live.keys[0]!, tags: ["project:x"] })],
    });
    expect(routed).toContain(
      `danger   model ${tagged[0]!.id}: refuses requests, keys and teams with other tags than paid: no target is tagged \`default\``,
    );
    expect(routed.join("\n")).toContain(`danger   key ci: loses the models`);
    const warned = { ...limits(5e9), softBudgetNanoUsd: 4e9 };
    expect(valueText({ keys: [key("ci", { models: ["default"], limits: warned })] })).toEqual([
      "caution  key ci: soft budget in dollars: none -> 4",
    ]);
    const [ci] = live.keys;
    const onlySoft = { ...warned, maxBudgetNanoUsd: null, rpm: null };
    expect(valueText({ keys: [ci!, key("new", { limits: onlySoft })] })).toEqual([
      "caution  key new: is new and may use every model, without limits",
    ]);
    expect(valueText({ keys: [] })).toEqual(["danger   key ci: no longer opens anything"]);
  });

  it("of providers and guardrails, without a word of a secret", () => {
    const other = { api_key: new Secret("env:A", "two-secret"), region: "us" };
    const lines = valueText({
      providers: [
        providerOf("openai", { missing: ["${env:OPENAI_API_KEY}"] }),
        providerOf("azure", {
          options: other,
          timeouts: { connectMs: 1_000, firstByteMs: 5, idleMs: 1_000 },
        }),
      ],
      guardrails: [guardrail("pii", { mode: "shadow", budgetMs: 50 })],
      keys: [
        key("ci", { models: ["default"], limits: limits(5e9), key: new Secret("env:K", "sk-new") }),
      ],
    });
    expect(lines).toEqual([
      "danger   guardrail pii: mode: enforce -> shadow",
      "danger   key ci: has another value: the old one is refused",
      "danger   provider openai: becomes unavailable: ${env:OPENAI_API_KEY} does not resolve",
      "danger   provider azure: region: eu -> us",
      "caution  guardrail pii: budget_ms: 1000 -> 50",
      "caution  provider azure: has another api_key: the next upstream call uses it",
      "caution  provider azure: timeout firstByteMs: 1000 -> 5",
    ]);
    expect(lines.join()).not.toMatch(/two-secret|sk-new/);
  });

  it("of URLs that are fetched from now on, from elsewhere, and no more", () => {
    const fetchMedia = {
      hosts: ["*"],
      allowOrigins: [],
      maxBytes: 9,
      timeoutMs: 9,
      redirects: 0,
      maxParallel: 1,
    };
    const of = (from: object, to: object): readonly string[] =>
      effectsOf(
        { ...live, digest: "1", providers: [providerOf("azure", from)] },
        { ...live, digest: "2", providers: [providerOf("azure", to)] },
        definitions,
      ).map(formatEffect);
    expect(of({}, { fetchMedia })).toEqual([
      expect.stringMatching(/^danger {3}provider azure: fetches what clients name by URL/),
    ]);
    expect(of({ fetchMedia }, { fetchMedia: { ...fetchMedia, redirects: 1 } })).toEqual([
      "danger   provider azure: fetch_media: redirects: 0 -> 1",
    ]);
    expect(of({ fetchMedia }, {})).toEqual([
      "caution  provider azure: no longer fetches what clients name by URL",
    ]);
    expect(of({ fetchMedia }, { fetchMedia: { ...fetchMedia } })).toEqual([]);
  });

  it("of prices and of what needs a restart", () => {
    const find = (_provider: string, model: string) =>
      model === "gpt" ? { input: 150_000, output: 600_000, source: "prices.yaml" } : undefined;
    const effects = effectsOf(
      live,
      { ...live, digest: "2", prices: { find }, server: { ...live.server, port: 4000 } },
      definitions,
    );
    expect(effects.map(formatEffect)).toEqual([
      "caution  server.port: changes, which needs a restart: as an edit it is refused",
      "caution  price of openai/gpt: unpriced: its cost is unknown -> input 0.15, output 0.6",
    ]);
    expect(summaryOf(effects)).toEqual({ risk: "caution", danger: 0, caution: 2, safe: 0 });
    expect(summaryOf([]).risk).toBe("safe");
  });
});
