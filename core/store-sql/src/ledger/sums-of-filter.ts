/** Which sums of spend answer how much the rows of a filter cost. */

import type { LedgerSumFilter } from "@sluice/contract";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
/** The length of a total's span. Every time zone's days begin at a quarter of an hour. */
export const TOTAL_MS = 900_000;

/** A column and the value that it must have. */
export type ColumnValue = readonly [column: string, value: string];

/** A table of sums and what to select in it. The caller adds the bounds of time. */
export interface SumsOfFilter {
  readonly table: "spend_total" | "spend_hour" | "spend_tag_hour" | "spend_customer_day";
  /** The column of the unit of time. */
  readonly unit: "span" | "hour" | "day";
  /** The length of a unit, in milliseconds. */
  readonly unitMs: number;
  /** The table's own column beside its unit: `subject`, `tag` or `customer`. Absent: none. */
  readonly own?: ColumnValue;
  /** Columns of the cells. Totals have none. */
  readonly cell: readonly ColumnValue[];
  /** Models, of the totals themselves or of the cells. Absent: all. */
  readonly models?: readonly string[];
}

/**
 * The sums of a filter; `undefined` where no sums answer it: with the id of a request, for a
 * customer's tag, and for an id that no row can have. The organization `""` selects rows without an
 * organization: cells have it, totals do not.
 */
export function sumsOfFilter(filter: LedgerSumFilter): SumsOfFilter | undefined {
  const { organizationId: organization, ...others } = filter;
  const { requestId, completionId, provider, tag, endUser } = others;
  if (requestId !== undefined || completionId !== undefined) return undefined;
  if (provider?.includes("/") === true || Object.values(others).includes("")) return undefined;
  if (endUser !== undefined && tag !== undefined) return undefined;
  const models = filter.models !== undefined && { models: filter.models };
  const subject = organization === "" ? undefined : subjectOf(filter);
  if (subject !== undefined) {
    const own = ["subject", subject] as const;
    return { table: "spend_total", unit: "span", unitMs: TOTAL_MS, own, cell: [], ...models };
  }
  const cell = cellOf(filter);
  if (endUser !== undefined) {
    const own = ["customer", endUser] as const;
    return { table: "spend_customer_day", unit: "day", unitMs: DAY_MS, own, cell, ...models };
  }
  const hours = { unit: "hour", unitMs: HOUR_MS, cell, ...models } as const;
  if (tag === undefined) return { table: "spend_hour", ...hours };
  return { table: "spend_tag_hour", own: ["tag", tag], ...hours };
}

/** The subject of the totals that a filter means; `undefined` where there are none. */
function subjectOf(filter: LedgerSumFilter): string | undefined {
  const { keyId, userId, teamId, organizationId, endUser, tag, provider } = filter;
  if (keyId !== undefined || userId !== undefined || endUser !== undefined) return undefined;
  const subjects = Object.entries({
    organization: organizationId,
    team: teamId,
    tag,
    provider,
  }).filter(([, id]) => id !== undefined);
  const [first] = subjects;
  if (subjects.length > 1) return undefined;
  return first === undefined ? "all" : `${first[0]}:${first[1]}`;
}

function cellOf({ keyId, userId, teamId, organizationId, provider }: LedgerSumFilter) {
  const columns = {
    key_id: keyId,
    user_id: userId,
    team_id: teamId,
    organization_id: organizationId,
    provider,
  };
  return Object.entries(columns).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
}
