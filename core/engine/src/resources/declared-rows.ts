/** The rows of declared teams in the store: keys of the store belong to them. */

import type { Log, TeamRecord, TeamStore } from "@sluice/contract";
import { isDeepStrictEqual } from "node:util";

/** A team as a file declares it. */
export type TeamOfFile = Omit<TeamRecord, "createdAtMs" | "managedBy">;

/**
 * Writes the row of a declared team unless it is as it should be. The row is blocked: it counts
 * only after the file no longer declares the team, and then its keys are refused.
 */
export async function writeDeclaredTeam(
  team: TeamOfFile,
  teams: TeamStore,
  nowMs: number,
): Promise<void> {
  if (teams.declare === undefined) return;
  const found = await teams.find(team.id);
  if (found !== undefined && found.managedBy !== "file") return;
  const { at: _at, ...members } = team as TeamOfFile & { readonly at?: unknown };
  const row: TeamRecord = {
    ...members,
    blocked: true,
    managedBy: "file",
    createdAtMs: found?.createdAtMs ?? nowMs,
  };
  if (!isDeepStrictEqual(found, row)) await teams.declare(row);
}

/** Writes the rows of all declared teams. A row that cannot be written is logged. Never rejects. */
export async function writeDeclaredTeams(
  declared: readonly TeamOfFile[],
  teams: TeamStore,
  nowMs: number,
  log: Log,
): Promise<void> {
  for (const team of declared) {
    try {
      await writeDeclaredTeam(team, teams, nowMs);
    } catch (error) {
      log.warn("the row of a declared team was not written; the next start writes it", {
        team_id: team.id,
        error,
      });
    }
  }
}
