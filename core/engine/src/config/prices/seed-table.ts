/**
 * The tables of @pydantic/genai-prices, under its own names. The build writes each to a file, so
 * that a start reads those it needs; without a file the package is loaded, for 9 MB.
 */

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { parseJson } from "@sluice/kit";
import { BoundedMap } from "../bounded-map.ts";

type GenaiPrices = typeof import("@pydantic/genai-prices");

type SeedProvider = NonNullable<ReturnType<GenaiPrices["findProvider"]>>;
/** A model of a table: what is read of it. */
export type SeedModel = Pick<
  SeedProvider["models"][number],
  "id" | "match" | "prices" | "context_window" | "deprecated"
>;
/** The models of a provider. */
export interface SeedTable {
  readonly id: string;
  readonly models: readonly SeedModel[];
  /** Tables that know further models of the provider. */
  readonly fallback_model_providers?: readonly string[];
}
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

declare global {
  interface ImportMeta {
    /** The URL of the folder of joined files; absent in a source (test/build/bundle.ts). */
    readonly joined?: string;
  }
}

/** Where the build writes the tables, from the folder of joined files. */
export const TABLES_FOLDER = "prices/";
/** More than the package has tables. Names of plugins without a table count as well. */
const MAX_TABLES = 200;

const tables = new BoundedMap<{ readonly table: SeedTable | undefined }>(MAX_TABLES);

/** The table of exactly this name. `undefined`: there is none. */
export function seedTable(id: string): SeedTable | undefined {
  const known = tables.get(id) ?? readTable(id) ?? { table: loadTable(id) };
  tables.set(id, known);
  return known.table;
}

/** The table as the build has written it, which may be that there is none. */
function readTable(id: string): { readonly table: SeedTable | undefined } | undefined {
  const joined = import.meta.joined;
  if (joined === undefined || !/^[\w-]+$/.test(id)) return undefined;
  const file = new URL(`${TABLES_FOLDER}${id}.json`, joined);
  if (!existsSync(file)) return undefined;
  return { table: (parseJson(readFileSync(file, "utf8")) as SeedTable | null) ?? undefined };
}

/** The table in the package, which also guesses. */
export function loadTable(id: string): SeedTable | undefined {
  const table = loadSeed().findProvider({ providerId: id });
  return table?.id === id ? table : undefined;
}

let loaded: GenaiPrices | undefined;

/** Loads the package synchronously, as a lookup is: about 40 ms, once in a process. */
export function loadSeed(): GenaiPrices {
  loaded ??= createRequire(import.meta.url)("@pydantic/genai-prices") as GenaiPrices;
  return loaded;
}
