/** Reports of spend: exact sums of rows by what they are of, and by time. All times are UTC. */

/** What a report may group and filter by. A row has any number of tags, and one of the others. */
export const SPEND_DIMENSIONS = [
  "organization",
  "team",
  "user",
  "key",
  "tag",
  "model",
  "provider",
  "customer",
] as const;

/**
 * `key` is a key's id, `model` the id that the client asked for or that of a fallback, `provider`
 * the instance's name in `config/gateway.yaml`, `customer` the end user of an organization.
 */
export type SpendDimension = (typeof SPEND_DIMENSIONS)[number];

/** The spans of time that a report distinguishes. */
export type SpendBucket = "hour" | "day" | "none";

/**
 * The ids that rows must have. An empty id: rows without one, but for `tag` and `customer`, which
 * take none. A report that groups or filters by these two has the rows that have them.
 */
export type SpendFilter = Readonly<Partial<Record<SpendDimension, string>>>;

/** The exact sums of some rows. A row that stands for n requests counts n times. */
export interface SpendSums {
  /** Requests of clients, whatever their number of attempts. */
  readonly requests: bigint;
  /** Rows: attempts, cache hits and refusals. The members below count or add up rows. */
  readonly rows: bigint;
  readonly failedRows: bigint;
  /** Rows of replies that did not reach their end. */
  readonly partialRows: bigint;
  /** Rows whose cost is unknown: their tokens are counted, their cost is not. */
  readonly unpricedRows: bigint;
  /** Rows whose tokens are estimated. */
  readonly estimatedRows: bigint;
  readonly cacheHits: bigint;
  readonly promptTokens: bigint;
  readonly completionTokens: bigint;
  readonly totalTokens: bigint;
  readonly cachedTokens: bigint;
  readonly reasoningTokens: bigint;
  readonly costNanoUsd: bigint;
  /** The part of the cost that is of failed and partial rows. */
  readonly lostNanoUsd: bigint;
}

/** One line of a report. */
export interface SpendGroup {
  /** The begin of the bucket, milliseconds since 1970; `null` without buckets. */
  readonly startMs: number | null;
  /** The ids of the group, in the order of the query's `by`. `null`: rows without one. */
  readonly ids: readonly (string | null)[];
  /** For groups by key: the alias in the key's newest row. Absent: none. */
  readonly keyAlias?: string;
  readonly sums: SpendSums;
}

/** A question for sums. */
export interface SpendReportQuery {
  /** At most two, each once, and not `tag` with `customer`. Empty: one group for each bucket. */
  readonly by: readonly SpendDimension[];
  /** A report of customers has no hours. */
  readonly bucket: SpendBucket;
  /** Inclusive, milliseconds since 1970: the begin of an hour; of a UTC day for customers. */
  readonly fromMs?: number;
  /** Exclusive, of the same kind. */
  readonly toMs?: number;
  /** All of these. With `tag`, a group by tag is that tag's alone. */
  readonly filter: SpendFilter;
  /** Absent: all rows. Rows must match one of these besides `filter`; empty: no rows. */
  readonly within?: readonly Readonly<
    Partial<Record<"organization" | "team" | "user" | "key", string>>
  >[];
  /**
   * `time` (the default): by bucket, then by ids, byte by byte. `spend`: the highest cost first,
   * without buckets and pages.
   */
  readonly order?: "time" | "spend";
  readonly limit: number;
  /** Groups behind this one: the last of the page before. */
  readonly after?: Pick<SpendGroup, "startMs" | "ids">;
}

/** A sum that differs from its rows. */
export interface SumDifference {
  /** The table or kind of sums, as the store names it. */
  readonly sums: string;
  /** The begin of its span of time, milliseconds since 1970. */
  readonly startMs: number;
  /** The ids of what is summed up, as the store names them. */
  readonly ids: readonly string[];
  /** The amount, by the store's name of it. */
  readonly amount: string;
  readonly stored: bigint;
  readonly ofRows: bigint;
}

/** The comparison of sums with rows. */
export interface SumsCheck {
  readonly rows: number;
  /** Sums that were compared, the missing and the superfluous ones included. */
  readonly sums: number;
  /** The first differences. */
  readonly differences: readonly SumDifference[];
  /** All differences. */
  readonly total: number;
  /**
   * Rows that started before this were deleted, and their sums are not compared. Absent: none were.
   */
  readonly prunedBeforeMs?: number;
}
