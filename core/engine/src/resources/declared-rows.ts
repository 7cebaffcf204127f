/** The rows of declared teams and tenants in the store: records of the store belong to them. */

import type {
  Log,
  Store,
  TeamRecord,
  TeamStore,
  TenantKind,
  TenantRecords,
  TenantTable,
} from "@sluice/contract";
import { setImmediate as nextTick } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

/** A team as a file declares it. */
export type TeamOfFile = Omit<TeamRecord, "createdAtMs" | "managedBy">;

/** A tenant as a file declares it. */
export type TenantOfFile<Kind extends TenantKind> = Omit<
  TenantRecords[Kind],
  "createdAtMs" | "managedBy"
>;

/** The tenants of a file, by kind. */
export type TenantsOfFile = {
  readonly [Kind in TenantKind]: readonly TenantOfFile<Kind>[];
};

/**
 * What a record refers to is written before it. Customers have no row: nothing refers to them, and
 * one that is no longer declared is as others are.
 */
const ORDER = [
  "organization",
  "budget",
  "access_group",
  "user",
  "membership",
] as const satisfies readonly TenantKind[];

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
  const row = rowOf(team, found, nowMs);
  if (!isDeepStrictEqual(found, row)) refuseTaken(await teams.declare(row));
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

/**
 * Writes the rows of all declared tenants but teams. Logs what cannot be written. Never rejects.
 */
export async function writeDeclared(
  declared: TenantsOfFile,
  { tenants }: Pick<Store, "tenants">,
  nowMs: number,
  log: Log,
): Promise<void> {
  if (tenants === undefined) return;
  let written = 0;
  for (const kind of ORDER)
    for (const record of declared[kind]) {
      // Reads of the store do not leave the thread: requests are served in between.
      if ((written += 1) % AT_ONCE === 0) await nextTick();
      try {
        await writeTenant(record as never, tenants[kind] as unknown as AnyTable, nowMs);
      } catch (error) {
        log.warn("the row of a declared record was not written; the next start writes it", {
          kind,
          record_id: "id" in record ? record.id : `${record.userId} in ${record.teamId}`,
          error,
        });
      }
    }
}

/** Rows that are written without a pause. */
const AT_ONCE = 20;

/** A table without its kind: the caller gives it records of its own. */
type AnyTable = TenantTable<"organization">;

async function writeTenant(
  record: TenantOfFile<"organization">,
  table: AnyTable,
  nowMs: number,
): Promise<void> {
  const found = await table.find(record);
  if (found !== undefined && found.managedBy !== "file") return;
  const row = rowOf(record, found, nowMs);
  if (!isDeepStrictEqual(found, row)) refuseTaken(await table.declare(row));
}

/**
 * The row: it counts only without the declaration. It is blocked where its kind can be, and an
 * access group names no model. A budget keeps its limits.
 */
function rowOf<Row extends { readonly createdAtMs: number }>(
  record: object,
  found: Row | undefined,
  nowMs: number,
): Row {
  const { at: _at, ...members } = record as { readonly at?: unknown };
  return {
    ...members,
    ...("blocked" in members ? { blocked: true } : "models" in members && { models: [] }),
    managedBy: "file",
    createdAtMs: found?.createdAtMs ?? nowMs,
  } as unknown as Row;
}

function refuseTaken(outcome: "declared" | "taken"): void {
  if (outcome === "taken")
    throw new Error("the store has a record whose id differs only by case, width or spaces");
}
