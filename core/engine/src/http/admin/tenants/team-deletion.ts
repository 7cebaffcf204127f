/** The deletion of teams: the request says what becomes of their keys. */

import type { JsonObject, KeysOfDeleted, KeyStore } from "@sluice/contract";
import { invalid } from "../fields.ts";
import { readId } from "../record-fields.ts";
import { keysView } from "./delete.ts";

const MOVE = "move:";

/** What `keys` of a body says; `undefined`: nothing, and the teams may have no keys then. */
export function readKeysOfTeam({ keys = null }: JsonObject): KeysOfDeleted | undefined {
  if (keys === null) return undefined;
  if (keys === "delete" || keys === "block") return keys;
  if (typeof keys === "string" && keys.startsWith(MOVE) && keys.length > MOVE.length)
    return { moveToTeam: readId(keys.slice(MOVE.length), "keys") };
  throw invalid("keys", "The field keys must be block, delete or move:<id of another team>.");
}

/**
 * Throws `invalid_field` where a team has keys, and the request does not say what becomes of them.
 */
export async function requireKeysOfTeam(
  ids: readonly string[],
  keys: Pick<KeyStore, "list">,
  chosen: KeysOfDeleted | undefined,
): Promise<void> {
  if (chosen !== undefined) return;
  for (const teamId of ids) {
    const { total } = await keys.list({ teamId, offset: 0, limit: 0 });
    if (total > 0)
      throw invalid(
        "keys",
        `The team ${JSON.stringify(teamId)} has ${total} ${total === 1 ? "key" : "keys"}. Say what becomes of them: keys: block, delete or move:<id of another team>.`,
      );
  }
}

/** The refusal of a deletion whose keys could not be moved. */
export function notMoved(outcome: string, { moveToTeam }: { readonly moveToTeam: string }) {
  const why =
    outcome === "missing"
      ? "does not exist"
      : outcome === "alias"
        ? "has a key of the same alias"
        : "belongs to another organization, or is the same team";
  return invalid(
    "keys",
    `The team ${JSON.stringify(moveToTeam)} ${why}: the keys stay where they are.`,
  );
}

/** What became of the keys. */
export function keysOfTeamView(
  chosen: KeysOfDeleted | undefined,
  keys: readonly string[],
): JsonObject {
  if (chosen === undefined) return {};
  const done = { delete: "deleted", block: "blocked" };
  return keysView(typeof chosen === "string" ? done[chosen] : "moved", keys);
}

/** What becomes of the keys, for the audit. */
export function textOf(chosen: KeysOfDeleted | undefined): string {
  if (chosen === undefined) return "none";
  return typeof chosen === "string" ? chosen : `${MOVE}${chosen.moveToTeam}`;
}
