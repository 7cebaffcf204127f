/** Leases, and the work that one process does for all that share a store. */

/** A lease of a name. Times are of the store's clock, milliseconds since 1970. */
export interface Lease {
  readonly holder: string;
  /** Since when the holder has had it without a gap. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** What the holder wrote into it, for the others. A new holder finds it. */
  readonly notes: string;
}

/** Stored leases. At most one process holds a lease at a time of the store's clock. */
export interface LeaseStore {
  /** The time between two renewals of a lease, in milliseconds. A lease lasts four of them. */
  readonly renewEveryMs: number;
  /**
   * Takes a lease that is free or has ended, and renews the caller's own. Returns the lease as it
   * is then: `holder` is another one where the caller does not have it. `notes` replace those of
   * the lease where the caller has it; absent: they stay.
   */
  take(name: string, holder: string, forMs: number, notes?: string): Promise<Lease>;
  /** Ends the lease of a holder. Does nothing where another one has it. */
  release(name: string, holder: string): Promise<void>;
}

/** What a job may need. */
export interface JobContext {
  /** Aborted when the process stops, or no longer leads. */
  readonly signal: AbortSignal;
  /** How long spend rows are kept, in milliseconds; `undefined`: for ever. */
  readonly keepLedgerMs: number | undefined;
}

/**
 * Work on the store that one process does for all. Two that do it at once, because one of them does
 * not know yet that its lease has ended, do no harm.
 */
export interface StoreJob {
  readonly name: string;
  readonly everyMs: number;
  /** Returns what it did, as words for the operator; `undefined`: there was nothing to do. */
  run(context: JobContext): Promise<string | undefined>;
}
