/** A transaction on a connection of a pool. */

import type { Pool, PoolClient } from "pg";

/** What `pg` says of a statement whose deadline has passed. */
const NO_ANSWER = "Query read timeout";

/**
 * Runs `work` in one transaction and commits it. Each statement reads what others have committed
 * until it begins, whatever the default of the database is. Rolls back and rejects when `work`
 * rejects. A connection that cannot roll back, or did not answer, is closed.
 */
export async function inTransaction<T>(
  pool: Pick<Pool, "connect">,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  try {
    await client.query("begin isolation level read committed");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    // A rollback would wait behind the statement that has no answer, for as long once more.
    isBroken = error instanceof Error && error.message === NO_ANSWER;
    if (!isBroken) await client.query("rollback").catch(() => (isBroken = true));
    throw error;
  } finally {
    client.release(isBroken);
  }
}
