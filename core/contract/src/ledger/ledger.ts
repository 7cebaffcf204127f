/**
 * The ledger: one row for each attempt that was dispatched, and for each refusal after
 * authentication.
 */

import type { TenantScope } from "../tenants/records.ts";
import type { GuardrailCount, GuardrailDay, GuardrailDayQuery } from "./judged.ts";
import type { SpendGroup, SpendReportQuery } from "./report.ts";

export type RowStatus = "success" | "failure" | "partial";
export type CostStatus = "priced" | "unpriced" | "free";

/**
 * A spend row in the gateway's own form: times in milliseconds since 1970, money in integer
 * nano-dollars. The API's edge makes the public form, with LiteLLM's names.
 */
export interface SpendRow {
  readonly requestId: string;
  /**
   * 1 for the first attempt. 0 for a request that was refused before any attempt, or served without
   * one.
   */
  readonly attempt: number;
  readonly callType: string;
  readonly keyId: string;
  readonly keyAlias: string | null;
  readonly userId: string | null;
  readonly teamId: string | null;
  /** The organization at the time of the request. Rows of earlier versions have none. */
  readonly organizationId: string | null;
  /** The customer: the end user whom the request names. */
  readonly endUser: string | null;
  /**
   * The id that the client asked for. For an attempt at a fallback, the id of the fallback model.
   */
  readonly model: string;
  /** `provider/model` of the target; null without a target. */
  readonly targetId: string | null;
  /** The configured entry the model came from. */
  readonly modelGroup: string | null;
  /**
   * The name under which the provider's models are priced: the plugin's, unless the provider has
   * another one.
   */
  readonly provider: string | null;
  readonly status: RowStatus;
  /** The error code of a failure or of a partial reply. */
  readonly errorCode: string | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalTokens: number | null;
  readonly cachedTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly usageSource: "provider" | "estimated" | null;
  readonly costNanoUsd: number | null;
  readonly costStatus: CostStatus;
  readonly cacheHit: boolean;
  readonly startedAtMs: number;
  readonly firstContentAtMs: number | null;
  readonly endedAtMs: number;
  readonly generation: number;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly clientAddress: string | null;
  /** The upstream's id of the request, from the headers of its response. */
  readonly upstreamRequestId: string | null;
  /**
   * The reply's id that the client read, if the upstream chose it. The gateway's own is `chatcmpl-`
   * and the request's id.
   */
  readonly completionId: string | null;
  /** Requests that the row stands for, where refused requests are counted together. Absent: 1. */
  readonly requests?: number | undefined;
  /**
   * What guardrails did with its request, for the sums of the store, which keeps no column of it.
   * The first row of a request has it. Absent: no guardrail checked the request.
   */
  readonly judged?: readonly GuardrailCount[] | undefined;
}

/** Selects rows. A row must match all members. */
export interface LedgerFilter {
  readonly requestId?: string;
  /** The id of a reply that its client read. With `requestId`: rows that have either id. */
  readonly completionId?: string;
  readonly keyId?: string;
  readonly userId?: string;
  readonly teamId?: string;
  /** Empty: rows without an organization. */
  readonly organizationId?: string;
  /** The customer's id. Two organizations may each have a customer of one id. */
  readonly endUser?: string;
  /** Inclusive, milliseconds since 1970, of `startedAtMs`. */
  readonly fromMs?: number;
  /** Exclusive. */
  readonly toMs?: number;
}

/**
 * Selects the rows of a sum: those of a filter that also carry a tag, went to a provider, or used
 * one of some models.
 */
export interface LedgerSumFilter extends LedgerFilter {
  readonly tag?: string;
  /** The provider instance's name in `config/gateway.yaml`. */
  readonly provider?: string;
  /**
   * Names of models. A row has one of them as its model, as its model group, or as the group, a
   * line break and the model. A name with `*` at its end is the beginning of the first or the last
   * of these, and so of a group. Empty: no row.
   */
  readonly models?: readonly string[];
}

/** A query of tags. */
export interface LedgerTagQuery extends LedgerFilter {
  /** Maximum number of tags. Absent: all. */
  readonly limit?: number;
}

/** The place of a row in the ledger's order, for `before` of the next page: `requestId:attempt`. */
export function rowCursor({ requestId, attempt }: Pick<SpendRow, "requestId" | "attempt">): string {
  return `${requestId}:${attempt}`;
}

/** A query of rows. */
export interface LedgerQuery extends LedgerFilter {
  readonly limit: number;
  /** Only rows of one of these places and users. */
  readonly within?: TenantScope;
  /** Rows older than this one: the `rowCursor` of the last row of the previous page. */
  readonly before?: string;
}

/** The exact sums of the rows of one UTC day. An unknown number adds nothing to its sum. */
export interface LedgerDay {
  /** `2026-01-31`. */
  readonly date: string;
  readonly costNanoUsd: bigint;
  /** Requests that began on the day, whatever their number of attempts. */
  readonly requests: number;
  /**
   * Requests with an attempt whose cost is unknown: their tokens are counted, their cost is not.
   */
  readonly unpricedRequests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Nano-dollars by the model id that clients asked for. */
  readonly models: ReadonlyMap<string, bigint>;
  /** Nano-dollars by user id; rows without a user are in no entry. */
  readonly users: ReadonlyMap<string, bigint>;
  /** Nano-dollars by key id. */
  readonly keys: ReadonlyMap<string, bigint>;
}

/** The exact sums of the rows that carry one tag. */
export interface LedgerTag {
  readonly tag: string;
  /** Rows. A row that stands for n requests counts n times. */
  readonly rows: number;
  /** Rows whose cost is unknown. */
  readonly unpricedRows: number;
  readonly costNanoUsd: bigint;
  readonly totalTokens: number;
}

/** A question for the use of a key. */
export interface KeyUseQuery {
  readonly keyId: string;
  /** Since when its cost counts, milliseconds since 1970. */
  readonly fromMs: number;
  /** Rows with this tag count in its cost as well, and not in its last use. Absent: none. */
  readonly tag?: string;
}

/** The use of a key. */
export interface KeyUse {
  readonly keyId: string;
  readonly costNanoUsd: number;
  /** When its newest row began, milliseconds since 1970; `null` for a key without rows. */
  readonly lastUsedAtMs: number | null;
}

/**
 * Reads the ledger. A row is readable within a second after its response ended. Every method
 * rejects with the signal's reason when it is aborted, and with `deadline_exceeded` when the answer
 * would take too long. No method blocks the event loop.
 */
export interface LedgerReader {
  /** Rows, newest first. */
  rows(query: LedgerQuery, signal?: AbortSignal): Promise<readonly SpendRow[]>;
  /** Days that have rows, oldest first. */
  days(filter: LedgerFilter, signal?: AbortSignal): Promise<readonly LedgerDay[]>;
  /** Tags, the highest cost first. A row with several tags counts for each. */
  tags(query: LedgerTagQuery, signal?: AbortSignal): Promise<readonly LedgerTag[]>;
  /**
   * Sums of rows by what they are of, and by time. Throws `invalid_field` for a query that the sums
   * do not answer.
   */
  report(query: SpendReportQuery, signal?: AbortSignal): Promise<readonly SpendGroup[]>;
  /** Sums of what guardrails did, by day, the oldest first. Absent: the store keeps none. */
  guardrails?(query: GuardrailDayQuery, signal?: AbortSignal): Promise<readonly GuardrailDay[]>;
  /**
   * The cost of the rows in nano-dollars, the start value of a budget. Rejects when recorded rows
   * are not readable yet.
   */
  spent(filter: LedgerSumFilter, signal?: AbortSignal): Promise<number>;
}
