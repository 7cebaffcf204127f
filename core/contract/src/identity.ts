/** Identities: the senders of requests. */

import type { Model } from "./model.ts";
import type { ImportedSpend } from "./tenants/imported-spend.ts";
import type { Customer, LimitScope } from "./tenants/scopes.ts";
import type { GatewayError } from "./error.ts";
import type { MaybePromise } from "./shared-state.ts";

/** The spend rows that a virtual key may read: its own, its user's or its team's. */
export type SpendScope = "key" | "user" | "team";

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
   * The lists of what the key belongs to, of the same form; none is empty. A model must be on each.
   * Absent: there are none.
   */
  readonly modelBounds?: readonly (readonly string[])[];
  /**
   * The rows that the identity may read. `user` and `team` exist only with a user or a team. The
   * master key reads all rows.
   */
  readonly spendScope: SpendScope;
  /** The tags of the key and of what it belongs to. */
  readonly tags: readonly string[];
  /**
   * Tags that a request may name besides `tags`, even when other records carry them or they have a
   * budget. Absent: none.
   */
  readonly allowedTags?: readonly string[];
  /**
   * Names of the guardrails that every request of the key must pass, its own and those of what it
   * belongs to. Absent: no additional ones.
   */
  readonly guardrails?: readonly string[];
  /**
   * Whether the key or its team reaches every native path of the providers. Applies only without a
   * model list. Absent: false.
   */
  readonly passthrough?: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  /**
   * The key that this one was made with by self-service: limits of each key hold for both together.
   * Absent: administration made it.
   */
  readonly madeWith?: { readonly keyId: string; readonly alias: string | undefined };
  /** Names of the key and of its team for models: alias to model id. Absent: none. */
  readonly modelAliases?: Readonly<Record<string, string>>;
  /** The customer that the key acts for. It wins over the one that a request names. */
  readonly customerId?: string | undefined;
  /** `false`: its requests may not name their customer. Absent: they may. */
  readonly mayNameCustomers?: boolean;
  /** The scopes that have limits, from the widest to the key. Absent: none. */
  readonly scopes?: readonly LimitScope[];
}

/** A request of a customer. */
export interface CustomerRequest {
  readonly customer: Customer;
  /** The identity with what the customer's record bounds. Without a record it is the key's. */
  readonly identity: Identity;
  /** Why the customer is refused. Absent: it is not. */
  readonly refusal?: GatewayError;
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
  /**
   * The customer of a request. `claimed` is the id that the request names; a key with a customer of
   * its own acts for that one. `undefined`: the request has none. Throws or rejects with
   * `invalid_field` for an id that cannot be one, with `rate_limited` where the key names too many
   * new customers.
   */
  customerOf(
    identity: Identity,
    claimed: string | undefined,
  ): MaybePromise<CustomerRequest | undefined>;
  /** Names of headers that carry the customer's id. They win over the body. */
  readonly customerHeaders: readonly string[];
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
