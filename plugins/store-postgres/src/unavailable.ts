/** Errors that say that the database cannot answer now, and not that it refuses. */

import { GatewayError, isGatewayError } from "@sluice/contract";
import { DatabaseError } from "pg";

/**
 * Classes of SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html): connection
 * exceptions, insufficient resources, operator intervention, system errors; a failover's read-only
 * transaction.
 */
const CLASSES: ReadonlySet<string> = new Set(["08", "53", "57", "58"]);
const READ_ONLY = "25006";

/** A transaction that PostgreSQL ended for another one: it may be run again. */
const CONFLICTS: ReadonlySet<string> = new Set(["40P01", "40001"]);
const MAX_RUNS = 3;

/** The error as a caller reads it: `overloaded` where the database cannot answer now. */
export function explained(error: unknown): unknown {
  if (isGatewayError(error) || isMistake(error)) return error;
  if (error instanceof DatabaseError) {
    const { code = "" } = error;
    if (!CLASSES.has(code.slice(0, 2)) && code !== READ_ONLY && !CONFLICTS.has(code)) return error;
  }
  return new GatewayError("overloaded", "The store does not answer at the moment.", {
    retryAfterMs: 1_000,
    cause: error,
  });
}

/** Whether an error is one of this code, and not of the driver: those are plain errors. */
function isMistake(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((type) => error instanceof type);
}

/** Runs `work`, again where PostgreSQL ended it for another transaction. Rejects as `explained`. */
export async function answered<T>(work: () => Promise<T>): Promise<T> {
  for (let run = 1; ; run++) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- the next one only after a conflict.
      return await work();
    } catch (error) {
      const isConflict = error instanceof DatabaseError && CONFLICTS.has(error.code ?? "");
      if (!isConflict || run === MAX_RUNS) throw explained(error);
    }
  }
}
