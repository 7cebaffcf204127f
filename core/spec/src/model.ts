/** Models, as steps see them. */

import type { Target } from "./target.ts";

export type ModelMode = "chat" | "embedding" | "image";

/** How one target is chosen among several. */
export type BalanceStrategy = "weighted" | "priority" | "least_busy" | "lowest_latency" | "lowest_cost" | "sticky";

/**
 * The class of a failure that another model may help with. The last three are parts of `general` for a model that has no list
 * of its own for them.
 */
export type FallbackClass = "general" | "context_window" | "content_policy" | "rate_limit" | "overloaded" | "timeout";

/** A model that a request may name. */
export interface Model {
  /** The id the client asked for; for a wildcard, the id that matched it. */
  readonly id: string;
  /** The entry of the configuration: equal to `id` unless a wildcard matched. */
  readonly entry: string;
  readonly mode: ModelMode;
  /** In the order of the file. Targets of unavailable providers are left out. */
  readonly targets: readonly Target[];
  /** How a target is chosen; it wins over what the pipeline's step says. */
  readonly balance?: BalanceStrategy;
  readonly accessGroups: readonly string[];
  /** Only the master key and keys or teams whose list names the model reach it. Absent: keys without a list do, too. */
  readonly onlyNamed?: boolean;
  /** Name of the provider that owns the first configured target. */
  readonly ownedBy: string;
  /** Ids of models that the operator named as stand-ins, by the class of the failure. */
  readonly fallbacks?: Readonly<Partial<Record<FallbackClass, readonly string[]>>>;
  /** What the operator says of the model. */
  readonly info?: ModelInfo;
}

/** What is said of a model; it wins over what is known of it. */
export interface ModelInfo {
  readonly maxInputTokens?: number;
  readonly maxOutputTokens?: number;
  /** By LiteLLM's names: `supports_vision`, … */
  readonly supports: Readonly<Record<string, boolean>>;
}

/** The models of a generation. */
export interface ModelCatalog {
  /** The model of an id, `undefined` when no entry and no wildcard matches. */
  find(id: string): Model | undefined;
  /**
   * Every configured entry with a target, or with a general fallback that has one, in the order of the file; wildcards as they
   * are written.
   */
  list(): readonly Model[];
}

/** A model that the built-in table knows. */
export interface KnownModel {
  /** The upstream's name. */
  readonly name: string;
  /** `undefined` for what the gateway has no operation for: speech, transcription, realtime, moderation. */
  readonly mode: ModelMode | undefined;
  /** Tokens of prompt and completion together. */
  readonly contextWindow: number | undefined;
}

/** What is known of providers' models without asking them. Providers go by the name that `pricedAs` of the kit gives. */
export interface ModelDirectory {
  /** The models of a provider, by name; none for a provider that the table does not have. */
  list(provider: string): readonly KnownModel[];
  find(provider: string, model: string): KnownModel | undefined;
}
