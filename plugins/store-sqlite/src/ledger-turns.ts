/** Numbers that the main thread and the one that reads the ledger share, for one question. */

/** The place in `shared` that is 1 once nobody waits any more. */
export const CANCELLED = 0;
/** The place in `shared` that counts the batches that were taken, and changes once more when nobody waits. */
export const RECEIVED = 1;
