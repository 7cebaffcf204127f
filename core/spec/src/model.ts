/** Models, as steps see them. */

import type { Target } from "./target.ts";

export type ModelMode = "chat" | "embedding" | "image";

/** A model that a request may name. */
export interface Model {
  /** The id the client asked for; for a wildcard, the id that matched it. */
  readonly id: string;
  /** The entry of the configuration: equal to `id` unless a wildcard matched. */
  readonly entry: string;
  readonly mode: ModelMode;
  /** In the order of the file. Targets of unavailable providers are left out. */
  readonly targets: readonly Target[];
  readonly accessGroups: readonly string[];
  /** Name of the provider that owns the first configured target. */
  readonly ownedBy: string;
}

/** The models of a generation. */
export interface ModelCatalog {
  /** The model of an id, `undefined` when no entry and no wildcard matches. */
  find(id: string): Model | undefined;
  /** Every configured entry with at least one target, in the order of the file; wildcards as they are written. */
  list(): readonly Model[];
}
