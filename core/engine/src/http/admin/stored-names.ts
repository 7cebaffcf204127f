/** Names of teams and keys that the store has, for the conditions that name them. */

import type { KeyStore, TeamStore } from "@sluice/contract";
import { type HasName, matchesName } from "../../pipeline/steps/condition-names.ts";

const PAGE = 200;
/** Maximum of keys that a pattern is compared with. With more keys, it counts as known. */
const MAX_KEYS = 2_000;

/**
 * Looks up a name in the store. A store that does not answer counts as having it, so that no
 * warning appears.
 */
export function storedNames(keys: KeyStore, teams: TeamStore): HasName {
  return async ({ kind, pattern }) => {
    try {
      return await (kind === "team" ? hasTeam(teams, pattern) : hasKey(keys, pattern));
    } catch {
      return true;
    }
  };
}

async function hasTeam(teams: TeamStore, pattern: string): Promise<boolean> {
  if (!pattern.endsWith("*")) return (await teams.find(pattern)) !== undefined;
  const { records } = await teams.list({ search: pattern.slice(0, -1), limit: PAGE });
  return records.some(({ id }) => matchesName(pattern, id));
}

async function hasKey(keys: KeyStore, pattern: string): Promise<boolean> {
  if (!pattern.endsWith("*")) {
    if ((await keys.find(pattern)) !== undefined) return true;
    return (await keys.list({ alias: pattern, offset: 0, limit: 1 })).total > 0;
  }
  for (let offset = 0; offset < MAX_KEYS; offset += PAGE) {
    const { keys: page, total } = await keys.list({ offset, limit: PAGE });
    if (
      page.some(
        ({ id, alias }) =>
          matchesName(pattern, id) || (alias !== null && matchesName(pattern, alias)),
      )
    )
      return true;
    if (offset + PAGE >= total) return false;
  }
  return true;
}
