/** Spend from before an import. */

/** Spend of a record before it was imported from another gateway. */
export interface ImportedSpend {
  readonly nanoUsd: number;
  /** It counts in budget periods that contain this time. Milliseconds since 1970. */
  readonly atMs: number;
}
