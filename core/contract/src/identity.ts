/** Identities: the senders of requests. */

import type { Model } from "./model.ts";

/** The spend rows that a virtual key may read: its own, its user's or its team's. */
export type SpendScope = "key" | "user" | "team";

/** Spend of a record before it was imported from another gateway. */
export interface ImportedSpend {
  readonly nanoUsd: number;
  /** It counts in budget periods that contain this time. Milliseconds since 1970. */
  readonly atMs: number;
}

/** Limits of a key or a team, from its record; `null` is no limit. */
export interface RecordLimits {
  /** What was spent before the record was imported: it counts in the budget. Absent: nothing. */
  readonly importedSpend?: ImportedSpend;
  readonly maxBudgetNanoUsd: number | null;
  /** The spend from which the log and a header warn. It refuses nothing. */
  readonly softBudgetNanoUsd: number | null;
  /** The period of the budget: `1d`, `7d`, `1mo`, …. `null`: the budget never resets. */
  readonly budgetDuration: string | null;
  /** Requests and tokens in any span of one minute. */
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly maxParallelRequests: number | null;
}

/** The sender of a request, and its permissions. */
export interface Identity {
  /** `master` administers; `key` is a virtual key. */
  readonly kind: "master" | "key";
  /** The key's id, never the key. `master` for the master key. */
  readonly keyId: string;
  readonly alias: string | undefined;
  readonly userId: string | undefined;
  readonly teamId: string | undefined;
  /** The organization of the key: its team's, else its own. Absent: none. */
  readonly organizationId?: string | undefined;
  /** Model ids, wildcards and access groups; empty means every model. */
  readonly models: readonly string[];
  /**
   * The team's own list, of the same form. A model must be on both lists. Absent or empty: the team
   * does not restrict models.
   */
  readonly teamModels?: readonly string[];
  /**
   * The rows that the identity may read. `user` and `team` exist only with a user or a team. The
   * master key reads all rows.
   */
  readonly spendScope: SpendScope;
  /** The tags of the key and of its team. */
  readonly tags: readonly string[];
  /**
   * Tags that a request may name besides `tags`, even when other records carry them or they have a
   * budget. Absent: none.
   */
  readonly allowedTags?: readonly string[];
  /**
   * Names of the guardrails that every request of the key or its team must pass. Absent: no
   * additional ones.
   */
  readonly guardrails?: readonly string[];
  /**
   * Whether the key or its team reaches every native path of the providers. Applies only without a
   * model list. Absent: false.
   */
  readonly passthrough?: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The key's own limits. Absent: none. */
  readonly limits?: RecordLimits | undefined;
  /** The limits that the key shares with its team. */
  readonly teamLimits?: RecordLimits | undefined;
}

/** Finds the identity of a credential. */
export interface Authority {
  /**
   * The identity of a presented key; `undefined` for unknown, revoked, blocked and expired keys
   * alike.
   */
  identify(presented: string): Identity | undefined | Promise<Identity | undefined>;
  /** The id of a key, also when the key is blocked or expired; `undefined` for other values. */
  keyIdOf(presented: string): Promise<string | undefined>;
  /** Whether an identity may use a model. */
  mayUse(identity: Identity, model: Model): boolean;
  /**
   * The first of these tags that only records of other keys and teams carry. The identity may not
   * name it.
   */
  foreignTag(
    identity: Identity,
    tags: readonly string[],
  ): string | undefined | Promise<string | undefined>;
  /** The models that a team's own list names; `undefined` without such a team. */
  teamModels(teamId: string): Promise<readonly string[] | undefined>;
  /** Names of headers, besides `authorization`, that carry a key, in the order of reading. */
  readonly headerNames: readonly string[];
}
