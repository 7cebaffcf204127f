/** Asks the gateway that runs here for names of teams and keys, for `sluice check`. */

import type { JsonObject } from "@sluice/contract";
import { type HasName, matchesName } from "@sluice/engine/config";
import { adminClient, type AskAdmin } from "./admin-client.ts";

const TIMEOUT_MS = 3_000;
const PAGE = 100;
/** A pattern is held against so many keys at most; beyond them it counts as known. */
const MAX_PAGES = 20;

/** Asks the running gateway. Throws a CommandError when none answers. */
export function runningNames(config: string): HasName {
  const ask = adminClient({ config }, TIMEOUT_MS);
  let teams: Promise<readonly string[]> | undefined;
  return async ({ kind, pattern }) => {
    if (kind === "key") return hasKey(ask, pattern);
    teams ??= ask("/team/list").then((listed) =>
      (listed as JsonObject[]).map((team) => String(team["team_id"])),
    );
    return (await teams).some((id) => matchesName(pattern, id));
  };
}

async function hasKey(ask: AskAdmin, pattern: string): Promise<boolean> {
  const isExact = !pattern.endsWith("*") && !pattern.startsWith("key_");
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = new URLSearchParams({
      size: String(PAGE),
      page: String(page),
      ...(isExact && { key_alias: pattern }),
    });
    const { keys, total_pages: pages } = (await ask(`/key/list?${String(query)}`)) as KeyList;
    const names = keys.flatMap((key) => [key["token_id"], key["key_alias"]]);
    if (names.some((name) => typeof name === "string" && matchesName(pattern, name))) return true;
    if (page >= pages) return false;
  }
  return true;
}

interface KeyList {
  readonly keys: readonly JsonObject[];
  readonly total_pages: number;
}
