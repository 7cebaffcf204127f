/** What the file's indexes and triggers refuse. */

import { errorMessage } from "@sluice/contract";

/** The extended codes of SQLITE_CONSTRAINT (https://sqlite.org/rescode.html). */
const PRIMARY_KEY = 1555;
const UNIQUE = 2067;
const TRIGGER = 1811;

/**
 * The conflict that an error means: `taken`, `alias`, or the word that a trigger raised. Throws any
 * other error.
 */
export function refusalOf(error: unknown): string {
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  if (code === PRIMARY_KEY) return "taken";
  if (code === UNIQUE) return errorMessage(error).includes("alias") ? "alias" : "taken";
  if (code === TRIGGER) return errorMessage(error);
  throw error;
}
