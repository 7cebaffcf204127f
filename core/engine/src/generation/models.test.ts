import { describe, expect, it } from "vitest";
import { modelOf, providerOf, snapshotOf } from "../pipeline/snapshot.fixture.ts";
import { createCatalog } from "./models.ts";

const catalog = createCatalog(
  snapshotOf({
    providers: [
      providerOf("openai"),
      providerOf("echo"),
      providerOf("dark", { missing: ["${env:KEY}"] }),
    ],
    models: [
      modelOf("gpt-4o", ["openai/gpt-4o-2024", "dark/gpt-4o", "echo/e"], {
        accessGroups: ["g"],
        mode: "chat",
      }),
      modelOf("openai/*", ["openai/*"]),
      modelOf("openai/ft-*", ["openai/ft:*:acme", "echo/fixed"]),
      modelOf("hidden", ["dark/hidden"]),
      modelOf("*", ["echo/any"]),
    ],
  }),
);

describe("the catalogue", () => {
  it("finds a model by its id, without the targets of unavailable providers", () => {
    expect(catalog.find("gpt-4o")).toEqual({
      id: "gpt-4o",
      entry: "gpt-4o",
      mode: "chat",
      targets: [
        { id: "openai/gpt-4o-2024", provider: "openai", model: "gpt-4o-2024" },
        { id: "echo/e", provider: "echo", model: "e" },
      ],
      accessGroups: ["g"],
      ownedBy: "openai",
    });
  });

  it("finds by the longest wildcard, and puts what it matched into the target", () => {
    expect(catalog.find("openai/o3")).toMatchObject({
      id: "openai/o3",
      entry: "openai/*",
      targets: [{ id: "openai/o3" }],
    });
    expect(catalog.find("openai/ft-a")).toMatchObject({
      id: "openai/ft-a",
      entry: "openai/ft-*",
      targets: [{ id: "openai/ft:a:acme" }, { id: "echo/fixed" }],
    });
    expect(catalog.find("anything")).toMatchObject({
      id: "anything",
      entry: "*",
      targets: [{ id: "echo/any" }],
    });
  });

  it("hands on prices of targets, fallbacks and what the operator says, through a wildcard as well", () => {
    const price = { input: 1, output: 2, source: "config/gateway.yaml" };
    const parts = {
      fallbacks: { general: ["b"], context_window: [], content_policy: [] },
      info: { maxInputTokens: 5, supports: {} },
    };
    const settings = modelOf("x/*", ["openai/*"], parts);
    const models = settings.targets.map((target) => ({ ...target, price }));
    const own = createCatalog(
      snapshotOf({ providers: [providerOf("openai")], models: [{ ...settings, targets: models }] }),
    );
    expect(own.find("x/y")).toMatchObject({
      id: "x/y",
      targets: [{ id: "openai/y", price }],
      ...parts,
    });
  });

  it("hands on how targets are balanced, through a wildcard as well", () => {
    const parts = { weight: 3, priority: -1, maxParallel: 2, queue: 5, queueTimeoutMs: 100 };
    const settings = modelOf("x/*", ["openai/*"], { balance: "priority" });
    const targets = settings.targets.map((target) => ({ ...target, ...parts }));
    const own = createCatalog(
      snapshotOf({ providers: [providerOf("openai")], models: [{ ...settings, targets }] }),
    );
    expect(own.find("x/y")).toMatchObject({
      balance: "priority",
      targets: [{ id: "openai/y", ...parts }],
    });
  });

  it("takes what a wildcard matched as text, whatever it holds", () => {
    expect(catalog.find("openai/$&*")?.targets[0]?.model).toBe("$&*");
  });

  it("does not let a wildcard match nothing", () => {
    expect(catalog.find("openai/")).toMatchObject({ entry: "*" });
    expect(catalog.find("")).toBeUndefined();
  });

  it("keeps a model without a target findable, and does not list it", () => {
    expect(catalog.find("hidden")).toMatchObject({ id: "hidden", targets: [], ownedBy: "dark" });
    expect(catalog.list().map(({ id }) => id)).toEqual(["gpt-4o", "openai/*", "openai/ft-*", "*"]);
  });

  it("returns frozen models", () => {
    expect(Object.isFrozen(catalog.find("gpt-4o"))).toBe(true);
    expect(Object.isFrozen(catalog.find("openai/o3"))).toBe(true);
  });
});
