/** Other names of models: of a key, or of a team. */

import type { JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { hasContent, jsonAt, type Row } from "../values.ts";
import type { Loss } from "./entry.ts";

/** Aliases with their models; without any the map is absent. */
export interface ModelNames {
  readonly map?: JsonObject;
  readonly losses: readonly Loss[];
}

/** A text that the gateway takes as a name. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/** The names in a column. A name that stands for no model is a loss. */
export function namesForModels(row: Row, column: string): ModelNames {
  const value = jsonAt(row, column);
  if (!isObject(value))
    return hasContent(row, column)
      ? { losses: [{ column, why: "it is not a map of names to models" }] }
      : { losses: [] };
  const all = Object.entries(value);
  const names = all.filter(([alias, model]) => isName(alias) && isName(model));
  const why = "a name that stands for no model is left out";
  return {
    ...(names.length > 0 && { map: Object.fromEntries(names) }),
    losses: names.length === all.length ? [] : [{ column, why }],
  };
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.length <= 256 && NAME.test(value);
}
