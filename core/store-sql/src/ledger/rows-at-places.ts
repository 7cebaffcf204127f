/**
 * Rows of several places and users. Each is read on its own, because each has an index that gives
 * its newest rows first; one query for all of them would walk the rows of other places.
 */

import type { LedgerQuery, SpendRow } from "@sluice/contract";

/** The queries of a query's places: itself without any, none where no row can match. */
export function queriesAtPlaces({ within, ...query }: LedgerQuery): readonly LedgerQuery[] {
  if (within === undefined) return [query];
  const at = (member: "organizationId" | "teamId" | "userId", ids: readonly string[]) =>
    ids
      .filter((id) => query[member] === undefined || query[member] === id)
      .map((id) => ({ ...query, [member]: id }));
  return [
    ...at("organizationId", within.organizations),
    ...at("teamId", within.teams),
    ...at("userId", within.users),
  ];
}

/** Joins rows that were read newest first, each once: `isNewer` is their order. */
export function joinRows(
  some: readonly SpendRow[],
  others: readonly SpendRow[],
  limit: number,
  isNewer: (one: SpendRow, other: SpendRow) => boolean,
): readonly SpendRow[] {
  if (some.length === 0) return others;
  const joined: SpendRow[] = [];
  for (let at = 0, next = 0; joined.length < limit;) {
    const [one, other] = [some[at], others[next]];
    if (one === undefined && other === undefined) break;
    const isSame = one?.requestId === other?.requestId && one?.attempt === other?.attempt;
    const takesOne = other === undefined || (one !== undefined && (isSame || isNewer(one, other)));
    joined.push((takesOne ? one : other)!);
    if (takesOne) at += 1;
    if (!takesOne || isSame) next += 1;
  }
  return joined;
}
