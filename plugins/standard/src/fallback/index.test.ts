import { beginAttempt } from "@sluice/runtime";
import { describe, expect, it } from "vitest";
import {
  type Capabilities,
  GatewayError,
  type GatewayErrorOptions,
  type GatewayFields,
  type Host,
  type JsonObject,
  type Model,
  type ProviderInstance,
} from "@sluice/contract";
import {
  fakeExchange,
  fakeHost,
  fakeIdentity,
  fakeRequest,
  fakeTarget,
  type FakeExchangeParts,
} from "@sluice/testing";
import { fallback, type FallbackConfig } from "./index.ts";

const CONFIG: FallbackConfig = {
  classes: ["general", "context_window", "content_policy"],
  max: 2,
  max_attempts: 9,
  on_cut: "error",
};
const ABLE: Capabilities = { operations: ["chat"], streaming: true, tools: true };
const PROVIDERS: Readonly<Record<string, Capabilities>> = {
  able: ABLE,
  toolless: { ...ABLE, tools: false },
  whole: { ...ABLE, streaming: false },
  modest: { ...ABLE, supports: () => false },
  vectors: { ...ABLE, operations: ["embeddings"] },
};

function model(id: string, parts: Partial<Model> = {}): Model {
  return {
    id,
    entry: id,
    mode: "chat",
    targets: [fakeTarget("able", id)],
    accessGroups: [],
    ownedBy: "able",
    ...parts,
  };
}

const FIRST = model("first", {
  fallbacks: { general: ["b", "c", "d"], context_window: ["big"], content_policy: ["mild"] },
});
const MODELS = [
  FIRST,
  ...["b", "c", "d", "big", "mild", "hidden"].map((id) => model(id)),
  model("toolless", { targets: [fakeTarget("toolless", "x")] }),
  model("mixed", { targets: [fakeTarget("toolless", "x"), fakeTarget("able", "x")] }),
  model("whole", { targets: [fakeTarget("whole", "x")] }),
  model("vectors", { targets: [fakeTarget("vectors", "x")] }),
  model("embedder", { mode: "embedding" }),
  model("modest", { targets: [fakeTarget("modest", "tiny")] }),
  model("praised", {
    targets: [fakeTarget("modest", "x")],
    info: { supports: { supports_vision: true } },
  }),
  model("modest-by-config", {
    info: {
      maxInputTokens: 10,
      supports: Object.fromEntries(
        [
          "function_calling",
          "vision",
          "audio_input",
          "pdf_input",
          "audio_output",
          "response_schema",
        ].map((name) => [`supports_${name}`, false]),
      ),
    },
  }),
  model("unknown"),
  model("empty", { targets: [] }),
];

const host: Host = fakeHost({
  models: { find: (id) => MODELS.find((known) => known.id === id), list: () => MODELS },
  authority: { ...fakeHost().authority, mayUse: (_identity, { id }) => id !== "hidden" },
  providers: {
    find: (name) =>
      ({ name, use: name, translation: { capabilities: PROVIDERS[name] } }) as ProviderInstance,
    names: () => Object.keys(PROVIDERS),
  },
  directory: {
    list: () => [],
    find: (_provider, name) =>
      name === "tiny" ? { name, mode: "chat", contextWindow: 10 } : undefined,
  },
});

const said = (part: JsonObject): JsonObject => ({
  role: "user",
  content: [{ type: "text", text: "hi" }, part],
});
const error = (code: GatewayError["code"], options: GatewayErrorOptions = {}) =>
  new GatewayError(code, code, options);
const DOWN = error("upstream_failed");

interface Run {
  /** What the calls of these models throw. The others answer. */
  readonly failing: Readonly<Record<string, Error>>;
  readonly fields?: GatewayFields;
  readonly body?: JsonObject;
  readonly config?: Partial<FallbackConfig>;
  readonly exchange?: FakeExchangeParts;
}

async function run({ failing, fields = {}, body = {}, config, exchange: parts }: Run) {
  const exchange = fakeExchange({
    identity: fakeIdentity(),
    model: FIRST,
    target: fakeTarget("able", "chosen"),
    request: fakeRequest({ model: "first", messages: [], temperature: 1, ...body }, { fields }),
    ...parts,
  });
  const called: string[] = [];
  const targets: (readonly string[])[] = [];
  const bodies: JsonObject[] = [];
  const outcome = await fallback
    .create({ ...CONFIG, ...config }, host)
    .run({ exchange }, async () => {
      const id = exchange.model?.id ?? "";
      called.push(id);
      targets.push(
        exchange.target === undefined
          ? (exchange.model?.targets.map((target) => target.id) ?? [])
          : ["chosen"],
      );
      bodies.push(exchange.request?.document.value ?? {});
      beginAttempt(exchange, fakeTarget("able", id), "fake");
      if (failing[id] !== undefined) throw failing[id];
    })
    .then(
      () => "answered",
      (thrown: unknown) => thrown,
    );
  return { outcome, called, targets, bodies, exchange };
}

describe("the fallback step", () => {
  it("does nothing while the first model answers", async () => {
    const { outcome, called, exchange } = await run({ failing: {} });
    expect([outcome, called, [...exchange.headers]]).toEqual([
      "answered",
      ["first"],
      [["x-sluice-fallbacks", "0"]],
    ]);
  });

  it("asks the models of the list in turn, with no target chosen, and says how many", async () => {
    const { outcome, called, targets, exchange } = await run({ failing: { first: DOWN, b: DOWN } });
    expect([outcome, called]).toEqual(["answered", ["first", "b", "c"]]);
    expect(targets).toEqual([["chosen"], ["able/b"], ["able/c"]]);
    expect(exchange.headers.get("x-sluice-fallbacks")).toBe("2");
    expect(exchange.model?.id).toBe("c");
    expect(exchange.attempts.map((attempt) => attempt.model?.id)).toEqual(["first", "b", "c"]);
  });

  it.each([
    ["general", "upstream_unreachable"],
    ["general", "upstream_timeout"],
    ["general", "upstream_rate_limited"],
    ["general", "upstream_auth_failed"],
    ["general", "upstream_overloaded"],
    ["general", "upstream_invalid_response"],
    ["general", "stream_truncated"],
    ["general", "provider_unavailable"],
    ["general", "overloaded"],
    ["context_window", "context_length_exceeded"],
    ["content_policy", "content_policy_violation"],
  ] as const)("takes the list %s for %s, and none where the class is off", async (name, code) => {
    const next = { general: "b", context_window: "big", content_policy: "mild" }[name];
    expect((await run({ failing: { first: error(code) } })).called).toEqual(["first", next]);
    const classes = CONFIG.classes.filter((other) => other !== name);
    expect((await run({ failing: { first: error(code) }, config: { classes } })).called).toEqual([
      "first",
    ]);
  });

  it.each([
    ["rate_limit", "upstream_rate_limited"],
    ["overloaded", "upstream_overloaded"],
    ["overloaded", "overloaded"],
    ["timeout", "upstream_timeout"],
  ] as const)(
    "takes the list %s for %s where the model has one, else the general one",
    async (name, code) => {
      const failing = { first: error(code) };
      const classes = [...CONFIG.classes, name];
      const listing = (ids: readonly string[]) => ({
        ...FIRST,
        fallbacks: { ...FIRST.fallbacks, [name]: ids },
      });
      const called = async (parts: Partial<Run>) =>
        (await run({ failing, config: { classes }, ...parts })).called;
      expect(await called({ exchange: { model: listing(["mild"]) } })).toEqual(["first", "mild"]);
      expect(await called({})).toEqual(["first", "b"]);
      // An empty list is a word, too.
      expect(await called({ exchange: { model: listing([]) } })).toEqual(["first"]);
      // A request's list is for all failures of the upstream, and a pipeline without the class
      // knows the general one.
      expect(
        await called({ exchange: { model: listing(["mild"]) }, fields: { fallbacks: ["c"] } }),
      ).toEqual(["first", "c"]);
      expect(await called({ exchange: { model: listing(["mild"]) }, config: {} })).toEqual([
        "first",
        "b",
      ]);
      expect(
        await called({
          exchange: { model: listing(["mild"]) },
          config: { classes: ["context_window"] },
        }),
      ).toEqual(["first"]);
    },
  );

  it.each([
    "upstream_rejected",
    "unsupported_parameter",
    "invalid_field",
    "guardrail_violation",
    "budget_exceeded",
    "body_timeout",
    "client_closed",
    "deadline_exceeded",
    "plugin_failed",
    "internal_error",
  ] as const)("has no fallback after %s", async (code) => {
    const first = error(code);
    expect(await run({ failing: { first } })).toMatchObject({ outcome: first, called: ["first"] });
  });

  it("has no fallback after the end of the exchange", async () => {
    const signal = AbortSignal.abort(error("client_closed"));
    expect(await run({ failing: { first: DOWN }, exchange: { signal } })).toMatchObject({
      outcome: DOWN,
      called: ["first"],
    });
  });

  it("stops after `max` models, each of which keeps a try beside `max_attempts`", async () => {
    const failing = { first: DOWN, b: DOWN, c: DOWN };
    expect(await run({ failing })).toMatchObject({ outcome: DOWN, called: ["first", "b", "c"] });
    expect(await run({ failing, config: { max: 0 } })).toMatchObject({ called: ["first"] });
    expect(await run({ failing, config: { max_attempts: 1 } })).toMatchObject({
      called: ["first", "b", "c"],
    });
  });

  it("answers the first error when all fail, as if nothing else had been asked", async () => {
    const { outcome, exchange } = await run({
      failing: { first: DOWN, b: error("upstream_rejected") },
    });
    expect(outcome).toBe(DOWN);
    expect(exchange.model).toBe(FIRST);
  });

  it("answers 429 everywhere with the shortest wait", async () => {
    const busy = (retryAfterMs: number) => error("upstream_rate_limited", { retryAfterMs });
    const { outcome } = await run({
      failing: {
        first: busy(9_000),
        b: busy(2_000),
        c: error("upstream_overloaded", { retryAfterMs: 1 }),
      },
    });
    expect(outcome).toMatchObject({
      code: "upstream_rate_limited",
      status: 429,
      retryAfterMs: 2_000,
      retryable: true,
    });
  });

  it("lets go of a reply that the failed model has left", async () => {
    let isReleased = false;
    const release = async () => {
      isReleased = true;
      return { done: true as const, value: undefined };
    };
    const frames = { [Symbol.asyncIterator]: () => ({ next: release, return: release }) };
    const { exchange } = await run({
      failing: { first: DOWN },
      exchange: { reply: { kind: "stream", status: 200, frames } },
    });
    expect([isReleased, exchange.reply]).toEqual([true, undefined]);
  });
});

describe("the request's own fallbacks", () => {
  it("replace the general list, with overrides for each", async () => {
    const fields = { fallbacks: ["c", { model: "d", temperature: 0, max_tokens: 5 }] };
    const { called, bodies } = await run({ failing: { first: DOWN, c: DOWN }, fields });
    expect(called).toEqual(["first", "c", "d"]);
    expect(
      bodies.map(({ temperature, max_tokens: tokens, model: name }) => [temperature, tokens, name]),
    ).toEqual([
      [1, undefined, "first"],
      [1, undefined, "first"],
      [0, 5, "first"],
    ]);
  });

  it("leave the other classes alone, unless they are empty", async () => {
    const failing = { first: error("context_length_exceeded") };
    expect((await run({ failing, fields: { fallbacks: ["c"] } })).called).toEqual(["first", "big"]);
    expect((await run({ failing, fields: { fallbacks: [] } })).called).toEqual(["first"]);
    expect((await run({ failing: { first: DOWN }, fields: { fallbacks: [] } })).called).toEqual([
      "first",
    ]);
    expect((await run({ failing: { first: DOWN }, fields: { fallbacks: null } })).called).toEqual([
      "first",
      "b",
    ]);
  });

  it("may name a larger model by the one that was asked for", async () => {
    const fields = { context_window_fallback_dict: { first: "d", other: "c" } };
    expect(
      (await run({ failing: { first: error("context_length_exceeded") }, fields })).called,
    ).toEqual(["first", "d"]);
    expect((await run({ failing: { first: DOWN }, fields })).called).toEqual(["first", "b"]);
  });

  it.each([
    "messages",
    "stream",
    "metadata",
    "num_retries",
    "tools",
    "Messages",
    "response_format",
    "system",
    "instructions",
    "documents",
    "stop",
    "models",
    "n",
    "constructor",
  ])("may not override %s", async (name) => {
    const { outcome, called } = await run({
      failing: {},
      fields: { fallbacks: ["b", { model: "c", [name]: 1 }] },
    });
    expect(outcome).toMatchObject({ code: "invalid_field", param: `fallbacks[1].${name}` });
    expect(called).toEqual([]);
  });
});

describe("a model that cannot stand in", () => {
  it.each([
    ["is hidden from the key", "hidden", {}, "hidden (not_found)"],
    ["does not exist", "nowhere", {}, "nowhere (not_found)"],
    ["is the model itself", "first", {}, null],
    ["has no provider", "empty", {}, "empty (provider)"],
    ["is of another mode", "embedder", {}, "embedder (mode)"],
    ["cannot chat", "vectors", {}, "vectors/x (operation)"],
    ["cannot stream", "whole", { stream: true }, "whole/x (streaming)"],
    ["has no tools", "toolless", { tools: [] }, "toolless/x (tools)"],
  ])("because it %s is skipped", async (_why, id, body, skipped) => {
    const { called, exchange } = await run({
      failing: { first: DOWN },
      fields: { fallbacks: [id, "c"] },
      body,
    });
    expect(called).toEqual(["first", "c"]);
    expect(exchange.headers.get("x-sluice-fallback-skipped") ?? null).toBe(skipped);
  });

  it.each<[string, JsonObject, string]>([
    [
      "images",
      { messages: [said({ type: "image_url", image_url: { url: "https://x/y.png" } })] },
      "images",
    ],
    [
      "audio",
      { messages: [said({ type: "input_audio", input_audio: { data: "", format: "wav" } })] },
      "audio",
    ],
    ["documents", { messages: [said({ type: "file", file: { file_id: "f" } })] }, "documents"],
    ["an audio reply", { modalities: ["text", "audio"] }, "speech"],
    [
      "a JSON schema",
      { response_format: { type: "json_schema", json_schema: { name: "x" } } },
      "schema",
    ],
    ["tools", { tools: [{ type: "function", function: { name: "f" } }] }, "tools"],
    [
      "a longer prompt than fits",
      { messages: [{ role: "user", content: "one two three four five six" }] },
      "context",
    ],
  ])(
    "that cannot do %s is skipped, by the provider's word or the operator's",
    async (_what, body, reason) => {
      const fields = { fallbacks: ["modest", "modest-by-config", "unknown"] };
      const { called, exchange } = await run({ failing: { first: DOWN }, fields, body });
      expect(called).toEqual(["first", "unknown"]);
      const skipped = `modest/tiny (${reason}), able/modest-by-config (${reason})`;
      expect(exchange.headers.get("x-sluice-fallback-skipped")).toBe(skipped);
    },
  );

  it("can do what the operator declares, and what neither provider nor operator denies", async () => {
    const body = { messages: [said({ type: "image_url", image_url: { url: "https://x/y.png" } })] };
    const { called } = await run({
      failing: { first: DOWN },
      fields: { fallbacks: ["praised"] },
      body,
    });
    expect(called).toEqual(["first", "praised"]);
    const plain = {
      messages: [{ role: "user", content: "hi" }],
      response_format: { type: "json_object" },
    };
    expect(
      (await run({ failing: { first: DOWN }, fields: { fallbacks: ["modest"] }, body: plain }))
        .called,
    ).toEqual(["first", "modest"]);
  });

  it("is not skipped while one of its targets can", async () => {
    const { targets, exchange } = await run({
      failing: { first: DOWN },
      fields: { fallbacks: ["mixed"] },
      body: { tools: [] },
    });
    expect(targets[1]).toEqual(["able/x"]);
    expect(exchange.headers.get("x-sluice-fallback-skipped")).toBe("toolless/x (tools)");
  });
});
