/** The package @pydantic/genai-prices: loaded when first asked, under its own names. */

import { createRequire } from "node:module";

type GenaiPrices = typeof import("@pydantic/genai-prices");

/** A provider of the table. */
export type SeedProvider = NonNullable<ReturnType<GenaiPrices["findProvider"]>>;
/** A model of the table. */
export type SeedModel = SeedProvider["models"][number];
/** Prices of a model at one time, by unit. */
export type SeedPrices = Exclude<SeedModel["prices"], readonly unknown[]>;
/** One price: a number, or a base with tiers. */
export type SeedPrice = SeedPrices[string];

/** Our plugin names whose table has another name. Others are looked up under their own, exactly. */
const TABLE_NAMES: Readonly<Record<string, string>> = {
  gemini: "google",
  vertex: "google",
  bedrock: "aws",
  xai: "x-ai",
};

/** The table's name for a provider plugin. */
export function tableName(provider: string): string {
  return TABLE_NAMES[provider] ?? provider;
}

let loaded: GenaiPrices | undefined;

/** Loads the package synchronously, as a lookup is: about 40 ms, once in a process. */
export function loadSeed(): GenaiPrices {
  loaded ??= createRequire(import.meta.url)("@pydantic/genai-prices") as GenaiPrices;
  return loaded;
}
