/** Numbers that the main thread and the one that reads the ledger share, for one question. */

/** The slot in `shared` that is 1 after the caller has stopped waiting. */
export const CANCELLED = 0;
/**
 * The slot in `shared` that counts the received batches. It changes once more when the caller stops
 * waiting.
 */
export const RECEIVED = 1;
