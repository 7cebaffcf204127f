/** The ledger: one row for each attempt that was dispatched, and for each refusal after authentication. */

export type RowStatus = "success" | "failure" | "partial";
export type CostStatus = "priced" | "unpriced" | "free";

/**
 * A spend row inside the house: times in milliseconds since 1970, money in integer nano-dollars. The public shape, in
 * LiteLLM's words, is made at the API's edge.
 */
export interface SpendRow {
  readonly requestId: string;
  /** 1 for the first attempt; 0 for a request that was refused before any. */
  readonly attempt: number;
  readonly callType: string;
  readonly keyId: string;
  readonly keyAlias: string | null;
  readonly userId: string | null;
  readonly teamId: string | null;
  readonly endUser: string | null;
  /** The id the client asked for. */
  readonly model: string;
  /** `provider/model` of the target, null when none was chosen. */
  readonly targetId: string | null;
  /** The configured entry the model came from. */
  readonly modelGroup: string | null;
  /** The provider plugin's name. */
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
}

/** What a reader of the ledger asks for. All filters are ANDed. */
export interface LedgerQuery {
  readonly requestId?: string;
  readonly keyId?: string;
  readonly userId?: string;
  readonly teamId?: string;
  /** Inclusive, milliseconds since 1970, of `startedAtMs`. */
  readonly fromMs?: number;
  /** Exclusive. */
  readonly toMs?: number;
  readonly limit: number;
  /** Rows older than this one: the `requestId:attempt` of the last row of the page before. */
  readonly before?: string;
}

/** Reads rows, newest first. A row is readable within a second of its response's end. */
export interface LedgerReader {
  rows(query: LedgerQuery): Promise<readonly SpendRow[]>;
}
