/** Reads of the ledger: each has a deadline, stops with its signal and sees one snapshot. */

import { GatewayError } from "@sluice/contract";
import { DatabaseError, type Pool, type PoolClient } from "pg";
import { sendCancel } from "../cancel.ts";
import { explained } from "../unavailable.ts";

/** What a read asks with: one statement at a time. */
export type Reading = Pick<PoolClient, "query">;

/** Where a read runs, and what bounds it. */
export interface ReadPlace {
  readonly pool: Pick<Pool, "connect">;
  /** With the wait for a connection. */
  readonly deadlineMs: number;
}

/** SQLSTATE of a statement that was cancelled, by its timeout too. */
const CANCELLED = "57014";
/** How long a cancelled statement may take to end before its connection is closed. */
const CANCEL_MS = 1_000;

/**
 * Runs `work` on a connection, in a transaction that only reads. Rejects with the signal's reason
 * and with `deadline_exceeded`, both at once: the statement is cancelled, and its
 * connection is closed: a late cancel must not reach the next statement.
 */
export async function readWithin<T>(
  { pool, deadlineMs }: ReadPlace,
  signal: AbortSignal | undefined,
  work: (reading: Reading) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const stopped = Promise.withResolvers<never>();
  const ending = new AbortController();
  const stop = (reason: unknown): void => {
    ending.abort(reason);
    stopped.reject(reason as Error);
  };
  const onAbort = (): void => stop(signal?.reason);
  const timer = setTimeout(() => stop(tooLong(deadlineMs)), deadlineMs);
  signal?.addEventListener("abort", onAbort, { once: true });
  const reading = read(pool, deadlineMs, ending.signal, work);
  try {
    return await Promise.race([reading, stopped.promise]);
  } catch (error) {
    // The read itself goes on until its connection is back: its error has no other receiver.
    reading.catch(() => undefined);
    if (error instanceof DatabaseError && error.code === CANCELLED) throw tooLong(deadlineMs);
    throw error === signal?.reason ? error : explained(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

async function read<T>(
  pool: ReadPlace["pool"],
  deadlineMs: number,
  ending: AbortSignal,
  work: (reading: Reading) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isReleased = false;
  let closing: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    sendCancel(client);
    closing = setTimeout(() => release(true), CANCEL_MS);
  };
  const release = (isClosed: boolean): void => {
    if (isReleased) return;
    isReleased = true;
    client.release(isClosed);
  };
  if (ending.aborted) {
    client.release();
    throw ending.reason as Error;
  }
  ending.addEventListener("abort", cancel, { once: true });
  try {
    await client.query(
      `begin isolation level repeatable read read only; set local statement_timeout = ${deadlineMs}`,
    );
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => release(true));
    throw error;
  } finally {
    ending.removeEventListener("abort", cancel);
    clearTimeout(closing);
    // A cancel that is under way may reach the next statement of the connection.
    release(ending.aborted);
  }
}

function tooLong(deadlineMs: number): GatewayError {
  return new GatewayError(
    "deadline_exceeded",
    `The ledger did not answer within ${deadlineMs / 1_000} s; ask for fewer days, or for one key or user.`,
  );
}
