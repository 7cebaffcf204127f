/** Names of teams and keys that the store has, for the conditions that name them. */

import type { KeyStore, TeamStore } from "@sluice/contract";
import { type HasName, matchesName } from "../../pipeline/steps/condition-names.ts";

const PAGE = 200;
/** A pattern is held against so many keys at most; beyond them it counts as known. */
const MAX_KEYS = 2_000;

/** Asks the store for a name. A store that does not answer counts as one that has it: nothing is warned of then. */
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
  return (await teams.list()).some(({ id }) => matchesName(pattern, id));
}

async function hasKey(keys: KeyStore, pattern: string): Promise<boolean> {
  if (!pattern.endsWith("*")) {
    if ((await keys.find(pattern)) !== undefined) return true;
    return (await keys.list({ alias: pattern, offset: 0, limit: 1 })).total > 0;
  }
  for (let offset = 0; offset < MAX_KEYS; offset += PAGE) {
    const { keys: page, total } = await keys.list({ offset, limit: PAGE });
    if (page.some(({ id, alias }) => matchesName(pattern, id) || (alias !== null && matchesName(pattern, alias)))) return true;
    if (offset + PAGE >= total) return false;
  }
  return true;
}
