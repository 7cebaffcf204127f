/** Identities: who sent a request. */

import type { Model } from "./model.ts";

/** Which spend rows a virtual key may read: its own, its user's or its team's. */
export type SpendScope = "key" | "user" | "team";

/** Limits of a key or of a team, as its record says; `null` is no limit. */
export interface RecordLimits {
  readonly maxBudgetNanoUsd: number | null;
  /** Spending from which on the log and a header warn. It refuses nothing. */
  readonly softBudgetNanoUsd: number | null;
  /** `1d`, `7d`, `1mo`, …: the budget begins anew with each. `null`: it is for ever. */
  readonly budgetDuration: string | null;
  /** Requests and tokens in any minute. */
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly maxParallelRequests: number | null;
}

/** Who sent a request, and what they may do. */
export interface Identity {
  /** `master` administers; `key` is a virtual key. */
  readonly kind: "master" | "key";
  /** The key's id, never the key. `master` for the master key. */
  readonly keyId: string;
  readonly alias: string | undefined;
  readonly userId: string | undefined;
  readonly teamId: string | undefined;
  /** Model ids, wildcards and access groups; empty means every model. */
  readonly models: readonly string[];
  /** The team's own list, in the same words. A model must be on both. Absent and empty: the team bounds nothing. */
  readonly teamModels?: readonly string[];
  /** The rows that the identity may read. `user` and `team` only where there is one; the master key reads all in any case. */
  readonly spendScope: SpendScope;
  /** The tags of the key and of its team. */
  readonly tags: readonly string[];
  /** Tags that a request may name beside these, although they stand on other records or have a budget. Absent: none. */
  readonly allowedTags?: readonly string[];
  /** Names of the guardrails that every request of the key or its team must pass. Absent: none of their own. */
  readonly guardrails?: readonly string[];
  /** Whether the key or its team reaches every native path of the providers. It counts without a model list only. Absent: it does not. */
  readonly passthrough?: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The key's own limits. Absent: none. */
  readonly limits?: RecordLimits | undefined;
  /** The limits that it shares with its team. */
  readonly teamLimits?: RecordLimits | undefined;
}

/** Who a credential belongs to. */
export interface Authority {
  /** The identity of a presented key; `undefined` for unknown, revoked, blocked and expired ones alike. */
  identify(presented: string): Identity | undefined | Promise<Identity | undefined>;
  /** The id of a key, also of one that is blocked or has expired; `undefined` for what is no key. */
  keyIdOf(presented: string): Promise<string | undefined>;
  /** Whether an identity may use a model. */
  mayUse(identity: Identity, model: Model): boolean;
  /** The first of these tags that stands on records of other keys and teams alone, so that the identity may not name it. */
  foreignTag(identity: Identity, tags: readonly string[]): string | undefined | Promise<string | undefined>;
  /** What a team's own list names; `undefined` when there is no such team. */
  teamModels(teamId: string): Promise<readonly string[] | undefined>;
  /** Names of headers, besides `authorization`, that carry a key; in the order they are read. */
  readonly headerNames: readonly string[];
}
