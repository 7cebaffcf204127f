/** Validates the answer of a moderation endpoint, and applies the operator's thresholds. */

import { isObject } from "@sluice/kit";
import type { JsonValue } from "@sluice/contract";

/** Which categories count, and from which score. */
export interface Policy {
  /** Absent: all. */
  readonly categories?: readonly string[];
  /** The minimum score of a category. It wins over the service's own verdict. */
  readonly thresholds: Readonly<Record<string, number>>;
}

/** An identifier: what is none does not become a reason. */
const CATEGORY = /^[\w.:/-]{1,48}$/;

/**
 * The reasons of the results, one for each text, `undefined` where nothing counts. Throws a
 * TypeError on what is no list of so many results of the shape `{ flagged, categories,
 * category_scores }`.
 */
export function readResults(
  answer: unknown,
  count: number,
  policy: Policy,
): (string | undefined)[] {
  const results = isObject(answer as JsonValue)
    ? (answer as { readonly results?: unknown }).results
    : undefined;
  if (!Array.isArray(results) || results.length !== count)
    throw new TypeError("no list of results");
  return (results as unknown[]).map((result) => blockReason(result, policy));
}

function blockReason(
  result: unknown,
  { categories: wanted, thresholds }: Policy,
): string | undefined {
  const { categories, category_scores: scores } = (result ?? {}) as Readonly<
    Record<string, unknown>
  >;
  if (!isRecord(categories)) throw new TypeError("a result without categories");
  const known = isRecord(scores) ? scores : {};
  const names = wanted ?? [...new Set([...Object.keys(categories), ...Object.keys(thresholds)])];
  const counted = names.find((name) => {
    const least = thresholds[name];
    if (least === undefined) return categories[name] === true;
    const score = known[name];
    // A category that is to be weighed and has no weight cannot be judged.
    if (typeof score !== "number") throw new TypeError("a category without a score");
    return score >= least;
  });
  if (counted === undefined) return undefined;
  return CATEGORY.test(counted) ? `moderation/${counted}` : "moderation/flagged";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
