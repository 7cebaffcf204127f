/** Changes of stored records, as every process that uses the store reads them. */

/** A change of a record, by any process. */
export interface RecordChange {
  /**
   * What changed: `key`, `team`, a kind of tenants, or `tag` (a tag on a record). Kinds that a
   * process does not know have no effect in it.
   */
  readonly kind: string;
  /**
   * The id: of a membership the user and the team, of a customer the organization (`""` for none)
   * and the customer. `undefined`: any record of the kind.
   */
  readonly ids: readonly string[] | undefined;
}

/**
 * Changes; `undefined`: the log does not reach back to the last read, and any record may have
 * changed.
 */
export type RecordChanges = readonly RecordChange[] | undefined;

/** What a process does when it learns of changes. Neither function throws. */
export interface ChangeListener {
  /** A change may have been committed: the log is to be read. Called only where the store can. */
  onWake(): void;
  /**
   * This process committed changes, or cannot tell whether it has. Called before the promise of the
   * write resolves or rejects. A later read may leave them out.
   */
  onWrite(changes: RecordChanges): void;
}

/**
 * The log of changes to keys, teams and tenants. No change is lost: each is in the read that begins
 * after its commit, in whatever order transactions commit.
 */
export interface ChangeLog {
  /**
   * The changes that were committed since the last read, each once. The first read returns
   * `undefined`. Rejects with `Error` or the signal's reason; the next read then has these changes
   * too. One read at a time.
   */
  read(signal: AbortSignal): Promise<RecordChanges>;
  /** Adds a listener. Returns the function that removes it. */
  listen(listener: ChangeListener): () => void;
}
