/** What the database's indexes and triggers refuse. */

import { DatabaseError } from "pg";

/** SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const UNIQUE = "23505";
const RAISED = "P0001";

/**
 * The conflict that an error means: `taken`, `alias`, or the word that a trigger raised. Throws any
 * other error.
 */
export function refusalOf(error: unknown): string {
  if (!(error instanceof DatabaseError)) throw error;
  if (error.code === UNIQUE)
    return error.constraint?.endsWith("_alias") === true ? "alias" : "taken";
  if (error.code === RAISED) return error.message;
  throw error;
}
