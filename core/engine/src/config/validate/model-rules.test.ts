import { describe, expect, it } from "vitest";
import { modelReferenceFaults } from "./model-rules.ts";

const models = (first: object) => ({
  models: [
    { id: "gpt-4o", targets: [{ provider: "openai", model: "gpt-4o" }], ...first },
    { id: "large", targets: [] },
    { id: "openai/*", targets: [] },
  ],
});
const faults = (first: object) =>
  modelReferenceFaults(models(first)).map(
    ({ path, message, fix }) => `${path.join(".")} ${message}: ${fix}`,
  );

describe("fallbacks", () => {
  it("of every class are looked at", () => {
    for (const name of [
      "context_window",
      "content_policy",
      "rate_limit",
      "overloaded",
      "timeout",
    ]) {
      expect(faults({ fallbacks: { [name]: ["nowhere"] } })).toHaveLength(1);
      expect(faults({ fallbacks: { [name]: ["large"] } })).toEqual([]);
    }
  });

  it("may name models, and what a wildcard matches", () => {
    expect(
      faults({
        fallbacks: {
          general: ["large", "openai/o3"],
          context_window: [],
          content_policy: ["large"],
        },
      }),
    ).toEqual([]);
  });

  it("are refused where no request could go there", () => {
    expect(faults({ fallbacks: { general: ["lage", "gpt-4o", "openai/*", "openai/"] } })).toEqual([
      'models.0.fallbacks.general.0 `models[0].fallbacks.general[0]` names "lage", which is not under `models`: did you mean `large`?',
      "models.0.fallbacks.general.1 `models[0].fallbacks.general[1]` names the model itself: name another one, or remove it",
      'models.0.fallbacks.general.2 `models[0].fallbacks.general[2]` names "openai/*", which is not under `models`: write large, or add it to `models`',
      'models.0.fallbacks.general.3 `models[0].fallbacks.general[3]` names "openai/", which is not under `models`: write large, or add it to `models`',
    ]);
  });

  it("of another shape are left to the schema", () => {
    expect(faults({ fallbacks: { general: "large", context_window: [4, ""] } })).toEqual([]);
    expect(faults({ fallbacks: 4 })).toEqual([]);
    expect(modelReferenceFaults(null)).toEqual([]);
  });
});

describe("prices of targets", () => {
  it("follow the rules of prices.yaml", () => {
    const target = (price: unknown) => ({
      targets: [{ provider: "openai", model: "gpt-4o", price }],
    });
    expect(faults(target({ input: 1, output: 2 }))).toEqual([]);
    expect(faults(target({ input: 1 }))).toEqual([
      "models.0.targets.0.price `models[0].targets[0].price` lacks `output`: add `output:` in US dollars per million tokens, or write `free: true`",
    ]);
    expect(faults(target("cheap"))).toEqual([]);
  });
});

describe("queues of targets", () => {
  it("need a limit that something can wait for", () => {
    const target = (parts: object) => ({
      targets: [{ provider: "openai", model: "gpt-4o", ...parts }],
    });
    expect(faults(target({ queue: 3, max_parallel: 1 }))).toEqual([]);
    expect(faults(target({ queue: 0 }))).toEqual([]);
    expect(faults(target({ queue: 3 }))).toEqual([
      "models.0.targets.0.queue `models[0].targets[0].queue` has no effect without `max_parallel`: set `max_parallel`, or remove the queue",
    ]);
  });
});
