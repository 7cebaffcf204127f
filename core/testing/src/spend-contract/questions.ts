/** Random questions to a ledger: reports, and sums of budgets. */

import { type LedgerSumFilter, SPEND_DIMENSIONS, type SpendReportQuery } from "@sluice/contract";
import fc from "fast-check";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);

/** At most so many members: with all of them, hardly any row would match. */
function fewOf<T extends object>(
  members: { readonly [Name in keyof T]: fc.Arbitrary<T[Name]> },
  most: number,
): fc.Arbitrary<Partial<T>> {
  const names = Object.keys(members) as (keyof T & string)[];
  return fc.subarray(names, { maxLength: most }).chain((chosen) => {
    const some = Object.fromEntries(chosen.map((name) => [name, members[name]]));
    return fc.record(some) as fc.Arbitrary<Partial<T>>;
  });
}

const ids = {
  organization: oneOf("o1", "o2", ""),
  team: oneOf("t1", "T1", ""),
  user: oneOf("u1", "u3"),
  key: oneOf("k1", "__proto__"),
};
/** Places and users whose rows a reader may see. The empty organization is that of other rows. */
export const rowScope = fc.record({
  organizations: fc.uniqueArray(oneOf("o1", "o2", "")),
  teams: fc.uniqueArray(oneOf("t1", "T1", "t9")),
  users: fc.uniqueArray(oneOf("u1", "u3")),
});

/** A report that a ledger must answer. */
export const spendQuestion = fc
  .record({
    by: fc.uniqueArray(oneOf(...SPEND_DIMENSIONS), { maxLength: 2 }),
    bucket: oneOf<SpendReportQuery["bucket"]>("hour", "day", "none"),
    filter: fewOf(
      {
        ...ids,
        model: oneOf("m1"),
        provider: oneOf("p1", ""),
        tag: oneOf("x"),
        customer: oneOf("c1"),
      },
      2,
    ),
    within: oneOf(false, false, true).chain((isBound) =>
      isBound ? fc.array(fewOf(ids, 2), { maxLength: 3 }) : fc.constant(undefined),
    ),
    from: oneOf(undefined, undefined, -7, -2, -1, 0, 1),
    to: oneOf(undefined, undefined, 0, 1, 2, 3, 7, 8),
    isOfDays: fc.boolean(),
    limit: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ by, bucket, filter, within, from, to, isOfDays, limit }): SpendReportQuery => {
    const query = { by, filter, bucket, limit };
    const isOfCustomers = by.includes("customer") || filter.customer !== undefined;
    const unitMs = isOfCustomers || isOfDays ? DAY_MS : 23 * HOUR_MS;
    return {
      ...query,
      ...(isOfCustomers && bucket === "hour" && { bucket: "day" }),
      ...(within !== undefined && { within }),
      ...(from !== undefined && { fromMs: from * unitMs }),
      ...(to !== undefined && { toMs: to * unitMs }),
    };
  })
  .filter(({ by, filter }) => {
    const names = [...by, ...Object.keys(filter)];
    return !(names.includes("tag") && names.includes("customer"));
  });

const time = fc
  // Hours around the borders of days, and of the weeks before and behind them.
  .tuple(
    fc.oneof({ weight: 3, arbitrary: fc.integer({ min: -30, max: 80 }) }, oneOf(-168, 167, 168)),
    oneOf(0, 0, 1, 1_800_000),
  )
  .map(([hour, ms]) => hour * HOUR_MS + ms);
const SCOPES = {
  keyId: oneOf("k1", "__proto__", ""),
  userId: oneOf("u1", "u3"),
  teamId: oneOf("t1", "T1"),
  organizationId: oneOf("o1", "o2"),
  endUser: oneOf("c1", "c 2"),
  tag: oneOf("x", "y:1"),
  provider: oneOf("p1", "p2", "p1/x"),
  models: fc.array(oneOf("m1", "m*", "*", "'; drop*", "", "m*\nm1", "m1\nm*", "m*\n*"), {
    maxLength: 2,
  }),
};
/** What a budget may begin with. */
export const spendFilter: fc.Arbitrary<LedgerSumFilter> = fc
  .tuple(fewOf(SCOPES, 3), fewOf({ fromMs: time, toMs: time }, 2))
  .map(([scopes, span]) => ({ ...scopes, ...span }));
/** Since when the use of a key may count. Periods begin at any minute of their time zone. */
export const useBegin = time.map((ms) => Math.max(0, ms));
