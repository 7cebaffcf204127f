/** Models, in the form that steps use. */

import type { Target } from "./target.ts";

export type ModelMode = "chat" | "embedding" | "image";

/** The operation of a route. The first three are those of the modes of models. */
export type Operation =
  | "chat"
  | "embeddings"
  | "images"
  | "passthrough"
  | "models"
  | "spend"
  | "tokens"
  | "responses";

/** The method that chooses one target among several. */
export type BalanceStrategy =
  | "weighted"
  | "priority"
  | "least_busy"
  | "lowest_latency"
  | "lowest_cost"
  | "sticky";

/**
 * The class of a failure that a fallback model may solve. The last three are parts of `general` for
 * a model without a list of its own for them.
 */
export type FallbackClass =
  | "general"
  | "context_window"
  | "content_policy"
  | "rate_limit"
  | "overloaded"
  | "timeout";

/** A model that a request may name. */
export interface Model {
  /** The id that the client asked for; for a wildcard, the matching id. */
  readonly id: string;
  /** The entry of the configuration: equal to `id` unless a wildcard matched. */
  readonly entry: string;
  readonly mode: ModelMode;
  /** In the order of the file. Targets of unavailable providers are left out. */
  readonly targets: readonly Target[];
  /** The method that chooses a target. It wins over the option of the pipeline's step. */
  readonly balance?: BalanceStrategy;
  readonly accessGroups: readonly string[];
  /**
   * Whether only the master key, and keys or teams whose list names the model, reach it. Absent:
   * keys without a list reach it too.
   */
  readonly onlyNamed?: boolean;
  /** Name of the provider of the first configured target. */
  readonly ownedBy: string;
  /** Ids of fallback models, by the class of the failure. */
  readonly fallbacks?: Readonly<Partial<Record<FallbackClass, readonly string[]>>>;
  /** Facts about the model from the configuration. */
  readonly info?: ModelInfo;
  /** Which targets a request may have, by its tags. Absent: no target of the model has tags. */
  readonly tagRouting?: TagRouting;
}

/** The choice of targets by the tags of a request, its key's and its team's included. */
export interface TagRouting {
  /** Whether one common tag suffices, or a target must have every tag of the request. */
  readonly match: TagMatch;
  /** The tags of every configured target, those of unavailable providers included. */
  readonly configured: readonly (readonly string[])[];
}

export type TagMatch = "any" | "all";

/** Configured facts about a model. They win over the built-in table. */
export interface ModelInfo {
  readonly maxInputTokens?: number;
  readonly maxOutputTokens?: number;
  /** By LiteLLM's names: `supports_vision`, … */
  readonly supports: Readonly<Record<string, boolean>>;
}

/** The models of a generation. */
export interface ModelCatalog {
  /** The model with an id; `undefined` when no entry and no wildcard matches. */
  find(id: string): Model | undefined;
  /**
   * Every configured entry with a target, or with a general fallback that has one, in the order of
   * the file; wildcards unexpanded.
   */
  list(): readonly Model[];
}

/** A model of the built-in table. */
export interface KnownModel {
  /** The upstream's name. */
  readonly name: string;
  /**
   * `undefined` for modes without an operation in the gateway: speech, transcription, realtime,
   * moderation.
   */
  readonly mode: ModelMode | undefined;
  /** Tokens of prompt and completion together. */
  readonly contextWindow: number | undefined;
}

/**
 * The built-in table of providers' models. The name of a provider is the result of `pricedAs` of
 * the kit.
 */
export interface ModelDirectory {
  /** The models of a provider, by name; empty for a provider outside the table. */
  list(provider: string): readonly KnownModel[];
  find(provider: string, model: string): KnownModel | undefined;
}
