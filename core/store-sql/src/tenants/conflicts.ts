/** What the indexes and triggers of a database refuse. */

/**
 * The conflict that an error means: `taken`, `alias`, or the word that a trigger raised. Throws any
 * other error. Each database has its own codes.
 */
export type RefusalOf = (error: unknown) => string;

/** The conflict, for callers that know some of the words. Throws the error for any other. */
export function conflictOf<Word extends string>(
  error: unknown,
  refusalOf: RefusalOf,
  known: readonly Word[],
): Word {
  const refusal = refusalOf(error);
  const found = known.find((word) => word === refusal);
  if (found === undefined) throw error;
  return found;
}
