import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { costNanoUsd } from "@sluice/runtime";
import { describe, expect, it } from "vitest";

import { findSeedPrice, SEED_SOURCE } from "./seed.ts";
import { matchSeed } from "./seed-match.ts";
import { seedTable } from "./seed-table.ts";
import { priceOf } from "./section.ts";
import { createPriceTable } from "./prices.ts";

const table = createPriceTable({
  file: "prices.yaml",
  now: () => Date.UTC(2026, 10, 1),
  prices: {
    "openai/gpt-4o": { input: 1.005, output: 2 },
    "openai/mine-*": { input: 1, output: 2 },
    "openai/mine-large-*": {
      input: 3,
      output: 4,
      cache_read: 0.5,
      tiers: [
        { above: 9, input: 8 },
        { above: 5, input: 7 },
      ],
    },
    "echo/*": { free: true },
  },
});

/** Pico-dollars for each use: ten dollars for a thousand searches of the web. */
const OPENAI_TOOLS = {
  web_search: 10_000_000_000,
  file_search: 2_500_000_000,
  code_interpreter: 30_000_000_000,
};

type Constraint =
  | import("@pydantic/genai-prices").StartDateConstraint
  | import("@pydantic/genai-prices").TimeOfDateConstraint;

describe("the price table", () => {
  it("takes built-in prices in exact pico-dollars", () => {
    expect(table.find("openai", "gpt-4o-mini")).toEqual({
      input: 150_000,
      output: 600_000,
      cacheRead: 75_000,
      tools: OPENAI_TOOLS,
      source: SEED_SOURCE,
    });
  });

  it("names the version of the table that is installed", () => {
    const entry = createRequire(import.meta.url).resolve("@pydantic/genai-prices");
    const { version } = JSON.parse(
      readFileSync(join(dirname(entry), "../package.json"), "utf8"),
    ) as { version: string };
    expect(SEED_SOURCE).toBe(`@pydantic/genai-prices ${version}`);
  });

  it("lets the file win, the exact name first and then the longest beginning", () => {
    expect(table.find("openai", "gpt-4o")).toEqual({
      input: 1_005_000,
      output: 2_000_000,
      tools: OPENAI_TOOLS,
      source: "prices.yaml",
    });
    expect(table.find("openai", "mine-small")).toMatchObject({ input: 1_000_000 });
    expect(table.find("openai", "mine-large-1")).toMatchObject({
      input: 3_000_000,
      cacheRead: 500_000,
      tiers: [
        { above: 5, input: 7_000_000 },
        { above: 9, input: 8_000_000 },
      ],
    });
  });

  it("says of a free model that it is free", () => {
    expect(table.find("echo", "x")).toEqual({
      input: 0,
      output: 0,
      free: true,
      source: "prices.yaml (free)",
    });
  });

  it("knows no price for an unknown model, an unknown provider and a provider that only sounds known", () => {
    expect(table.find("openai", "no-such-model")).toBeUndefined();
    expect(table.find("acme", "gpt-4o-mini")).toBeUndefined();
    expect(table.find("openai-compatible", "gpt-4o-mini")).toBeUndefined();
  });

  it("matches dated names by the table's own clauses", () => {
    expect(table.find("openai", "gpt-4o-mini-2024-07-18")).toEqual(
      table.find("openai", "gpt-4o-mini"),
    );
  });

  it("reads the other tables under our plugins' names", () => {
    expect(table.find("anthropic", "claude-3-5-haiku-20241022")?.source).toBe(SEED_SOURCE);
    expect(table.find("gemini", "gemini-2.0-flash")?.source).toBe(SEED_SOURCE);
    expect(table.find("vertex", "claude-sonnet-4-5@20250929")).toMatchObject({
      input: 3_000_000,
      output: 15_000_000,
    });
    expect(table.find("vertex", "imagen-4.0-generate-001")?.images).toEqual([
      { picoUsd: 40_000_000_000 },
    ]);
  });

  it("keeps the tiers of the table", () => {
    const price = findSeedPrice("openai", "gpt-5.6-sol", Date.UTC(2026, 7, 1)).price;
    expect(price).toMatchObject({
      input: 5_000_000,
      output: 30_000_000,
      tiers: [{ above: 271_999, input: 10_000_000, output: 45_000_000 }],
    });
  });

  it("means by a name the model that the package means by it", () => {
    const { calcPrice, findProvider } = createRequire(import.meta.url)(
      "@pydantic/genai-prices",
    ) as typeof import("@pydantic/genai-prices");
    const tables = ["openai", "anthropic", "google", "azure", "aws", "x-ai", "groq", "deepseek"];
    const ids = tables.flatMap((id) => findProvider({ providerId: id })?.models ?? []);
    const forms = [
      (id: string) => id,
      (id: string) => `${id}-20240806`,
      (id: string) => `${id}-20240231`,
      (id: string) => ` ${id.toUpperCase()}`,
      (id: string) => `x${id}`,
    ];
    const different: string[] = [];
    let known = 0;
    for (const providerId of tables) {
      const table = seedTable(providerId);
      for (const name of ids.flatMap(({ id }) => forms.map((form) => form(id)))) {
        const own = table === undefined ? undefined : matchSeed(table, name);
        if (own !== undefined) known++;
        if (own !== calcPrice({}, name, { providerId })?.model)
          different.push(`${providerId}/${name}`);
      }
    }
    expect(different).toEqual([]);
    expect(known).toBeGreaterThan(1_000);
  });

  it("agrees with the table's own arithmetic for every model it prices", () => {
    const { calcPrice, findProvider } = createRequire(import.meta.url)(
      "@pydantic/genai-prices",
    ) as typeof import("@pydantic/genai-prices");
    const now = Date.UTC(2026, 10, 1);
    let compared = 0;
    for (const name of ["openai", "anthropic", "google", "mistral", "groq"]) {
      for (const { id } of findProvider({ providerId: name })?.models ?? []) {
        const price = findSeedPrice(name, id, now).price;
        if (price === undefined) continue;
        for (const promptTokens of [1_000, 1_000_000]) {
          // An embedding has no output to price.
          const completionTokens = price.output === undefined ? 0 : 500;
          const usage = {
            promptTokens,
            completionTokens,
            totalTokens: promptTokens + completionTokens,
            cachedTokens: 100,
          };
          const own = {
            input_tokens: promptTokens,
            output_tokens: completionTokens,
            cache_read_tokens: 100,
          };
          const theirs =
            calcPrice(own, id, { providerId: name, timestamp: new Date(now) })?.total_price ?? 0;
          expect(
            Math.abs((costNanoUsd(usage, price) ?? 0) - theirs * 1e9),
            `${name}/${id} ${promptTokens}`,
          ).toBeLessThanOrEqual(1);
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(300);
  });

  it("follows a price that changes on a day, within a minute", () => {
    let now = Date.UTC(2026, 7, 20, 23, 59, 30);
    const timed = createPriceTable({ file: "prices.yaml", prices: {}, now: () => now });
    expect(timed.find("openai", "gpt-5.6-sol")).toMatchObject({ input: 5_000_000 });
    now += 31_000;
    expect(timed.find("openai", "gpt-5.6-sol")).toMatchObject({ input: 4_000_000 });
  });

  it("knows the prices of each day and hour as the table does", () => {
    const { calcPrice } = createRequire(import.meta.url)(
      "@pydantic/genai-prices",
    ) as typeof import("@pydantic/genai-prices");
    const changesOf = (constraint: Constraint): number[] =>
      constraint.type === "start_date"
        ? [Date.parse(constraint.start_date)]
        : [constraint.start_time, constraint.end_time].map((time) =>
            Date.parse(`2026-11-01T${time}`),
          );
    let compared = 0;
    for (const providerId of ["openai", "anthropic", "google", "mistral", "aws", "deepseek"]) {
      for (const { id, prices } of seedTable(providerId)?.models ?? []) {
        if (!Array.isArray(prices)) continue;
        const changes = prices.flatMap(({ constraint }) =>
          constraint ? changesOf(constraint) : [],
        );
        for (const nowMs of changes.flatMap((at) => [at - 1, at, at + 1_000])) {
          const timestamp = new Date(nowMs);
          const theirs = calcPrice({}, id, { providerId, timestamp })?.model_price.input_mtok;
          const rate = typeof theirs === "object" ? theirs.base : theirs;
          expect(
            findSeedPrice(providerId, id, nowMs).price?.input,
            `${id} ${timestamp.toISOString()}`,
          ).toBe(rate === undefined ? undefined : Math.round(rate * 1_000_000));
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(40);
  });

  it("gives the same object again, so that an answer costs a look", () => {
    expect(table.find("openai", "gpt-4o-mini")).toBe(table.find("openai", "gpt-4o-mini"));
  });

  it("has no price for an entry without its two halves", () => {
    expect(priceOf({ input: 1 }, "prices.yaml")).toBeUndefined();
  });
});
