/** The ledger: one row for each attempt that was dispatched, and for each refusal after authentication. */

export type RowStatus = "success" | "failure" | "partial";
export type CostStatus = "priced" | "unpriced" | "free";

/**
 * A spend row inside the house: times in milliseconds since 1970, money in integer nano-dollars. The public shape, in
 * LiteLLM's words, is made at the API's edge.
 */
export interface SpendRow {
  readonly requestId: string;
  /** 1 for the first attempt; 0 for a request that was refused before any, and for what was served without one. */
  readonly attempt: number;
  readonly callType: string;
  readonly keyId: string;
  readonly keyAlias: string | null;
  readonly userId: string | null;
  readonly teamId: string | null;
  readonly endUser: string | null;
  /** The id the client asked for; of an attempt at a fallback, the id of the model that stood in. */
  readonly model: string;
  /** `provider/model` of the target, null when none was chosen. */
  readonly targetId: string | null;
  /** The configured entry the model came from. */
  readonly modelGroup: string | null;
  /** The name under which the provider's models are priced: the plugin's, unless the provider says another. */
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
  /** Requests that the row stands for, where refused requests are counted together. Absent: one. */
  readonly requests?: number | undefined;
}

/** Which rows a reader means. All members are ANDed. */
export interface LedgerFilter {
  readonly requestId?: string;
  readonly keyId?: string;
  readonly userId?: string;
  readonly teamId?: string;
  /** Inclusive, milliseconds since 1970, of `startedAtMs`. */
  readonly fromMs?: number;
  /** Exclusive. */
  readonly toMs?: number;
}

/** Which rows a sum means: those of a filter that also carry a tag, or went to a provider. */
export interface LedgerSumFilter extends LedgerFilter {
  readonly tag?: string;
  /** The provider instance's name in `config/gateway.yaml`. */
  readonly provider?: string;
}

/** What a reader of tags asks for. */
export interface LedgerTagQuery extends LedgerFilter {
  /** Tags at most. Absent: all. */
  readonly limit?: number;
}

/** What a reader of rows asks for. */
export interface LedgerQuery extends LedgerFilter {
  readonly limit: number;
  /** Rows older than this one: the `requestId:attempt` of the last row of the page before. */
  readonly before?: string;
}

/** The rows of one UTC day, summed up exactly. An unknown number adds nothing to its sum. */
export interface LedgerDay {
  /** `2026-01-31`. */
  readonly date: string;
  readonly costNanoUsd: bigint;
  /** Requests that began on the day, however many attempts they took. */
  readonly requests: number;
  /** Requests with an attempt whose cost is unknown: their tokens are counted, their money cannot be. */
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

/** The rows that carry one tag, summed up exactly. */
export interface LedgerTag {
  readonly tag: string;
  /** Rows; one that stands for several requests counts as so many. */
  readonly rows: number;
  /** Rows whose cost is unknown. */
  readonly unpricedRows: number;
  readonly costNanoUsd: bigint;
  readonly totalTokens: number;
}

/**
 * Reads the ledger. A row is readable within a second of its response's end. Every method rejects with the signal's reason
 * when it is aborted, with `deadline_exceeded` when the answer would take too long, and none keeps the event loop busy.
 */
export interface LedgerReader {
  /** Rows, newest first. */
  rows(query: LedgerQuery, signal?: AbortSignal): Promise<readonly SpendRow[]>;
  /** Days that have rows, oldest first. */
  days(filter: LedgerFilter, signal?: AbortSignal): Promise<readonly LedgerDay[]>;
  /** Tags, the one with the highest cost first. A row with several tags counts for each. */
  tags(query: LedgerTagQuery, signal?: AbortSignal): Promise<readonly LedgerTag[]>;
  /** The cost of the rows, nano-dollars. What a budget begins with: rejects when rows that were recorded are not readable yet. */
  spent(filter: LedgerSumFilter, signal?: AbortSignal): Promise<number>;
}
