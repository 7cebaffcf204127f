/** Imports the keys and teams of an export into the running gateway. */

import { basename } from "node:path";
import type { JsonObject } from "@sluice/contract";
import type { AskAdmin } from "../admin-client.ts";
import type { Entry } from "./entry.ts";
import { keyEntry } from "./key-entry.ts";
import { readRows } from "./read-rows.ts";
import { teamEntry } from "./team-entry.ts";
import type { Row } from "./values.ts";

/** Entries of one request. */
const BATCH = 100;
/** Keys and teams of one import. They are held in memory. */
const MAX_ENTRIES = 500_000;

/** What is asked for. */
export interface DatabaseImport {
  readonly files: readonly string[];
  readonly isDryRun: boolean;
  /** Columns whose loss does not block. */
  readonly accepted: readonly string[];
  readonly nowMs: number;
}

/** One remark about a row. */
export interface DatabaseNote {
  /** The file and the line at which the row ends. */
  readonly at: string;
  /**
   * `left out`: the row was not imported. `blocked`: it was, and is blocked. `missing`: a column of
   * it was not.
   */
  readonly kind: "left out" | "blocked" | "missing";
  readonly what: string;
}

/** The counts of one table. */
export interface TableCounts {
  added: number;
  unchanged: number;
  leftOut: number;
  blocked: number;
}

/** What the import did, or would do. */
export interface DatabaseOutcome {
  readonly keys: TableCounts;
  readonly teams: TableCounts;
  readonly notes: DatabaseNote[];
}

type Table = "keys" | "teams";

interface Placed {
  readonly at: string;
  readonly entry: Entry;
}

/**
 * Imports teams, then keys. Rejects as the gateway's client does; what was imported by then stays,
 * and the import can be repeated. Throws an `Error` for a file that is no export.
 */
export async function importDatabase(
  asked: DatabaseImport,
  ask: AskAdmin,
): Promise<DatabaseOutcome> {
  const outcome: DatabaseOutcome = { keys: noCounts(), teams: noCounts(), notes: [] };
  const placed: Record<Table, Placed[]> = { keys: [], teams: [] };
  for (const file of asked.files) await readFile(file, asked, placed, outcome);
  for (const table of ["teams", "keys"] as const) {
    for (let start = 0; start < placed[table].length; start += BATCH) {
      const batch = placed[table].slice(start, start + BATCH);
      await send(table, batch, { ...asked, teamIds: teamsOf(batch, placed.teams) }, outcome, ask);
    }
  }
  return outcome;
}

async function readFile(
  file: string,
  { nowMs }: DatabaseImport,
  placed: Record<Table, Placed[]>,
  { notes, ...counts }: DatabaseOutcome,
): Promise<void> {
  let table: Table | undefined;
  for await (const { row, line } of readRows(file)) {
    table ??= tableOf(row);
    if (table === undefined)
      throw new Error(
        `its columns are not those of LiteLLM_VerificationToken or LiteLLM_TeamTable; the first row has ${Object.keys(row).slice(0, 6).join(", ")}`,
      );
    const at = `${basename(file)}:${line}`;
    const entry = table === "keys" ? keyEntry(row, nowMs) : teamEntry(row, nowMs);
    if ("leftOut" in entry) {
      counts[table].leftOut += 1;
      notes.push({ at, kind: "left out", what: entry.leftOut });
    } else if (placed[table].push({ at, entry }) > MAX_ENTRIES)
      throw new Error(`it has more than ${MAX_ENTRIES} rows; split the export`);
  }
}

/** The teams of keys that the same import adds before them: a dry run does not add them. */
function teamsOf(keys: readonly Placed[], teams: readonly Placed[]): readonly string[] {
  const known = new Set(teams.map(({ entry }) => entry.body["team_id"]));
  const named = keys.map(({ entry }) => entry.body["team_id"]);
  return [...new Set(named)].filter((id) => typeof id === "string").filter((id) => known.has(id));
}

/** The tables of deleted keys and teams have the same columns, and more. */
function tableOf(row: Row): Table | undefined {
  if ("deleted_at" in row) return undefined;
  if ("token" in row) return "keys";
  return "team_id" in row && ("team_alias" in row || "members_with_roles" in row)
    ? "teams"
    : undefined;
}

async function send(
  table: Table,
  batch: readonly Placed[],
  { isDryRun, accepted, teamIds }: DatabaseImport & { readonly teamIds: readonly string[] },
  { notes, ...counts }: DatabaseOutcome,
  ask: AskAdmin,
): Promise<void> {
  const bodies = batch.map(({ entry: { body, bounds } }) => {
    const isHeld = bounds.every(({ column }) => accepted.includes(column));
    return isHeld ? body : { ...body, blocked: true };
  });
  const path = table === "keys" ? "/key/import" : "/team/import";
  const body = {
    [table]: bodies,
    ...(isDryRun && { dry_run: true }),
    ...(isDryRun && table === "keys" && { expected_teams: teamIds }),
  };
  const answer = (await ask(path, body)) as {
    readonly results: readonly { readonly outcome: string; readonly reason: string | null }[];
  };
  for (const [index, { at, entry }] of batch.entries()) {
    const { outcome = "refused", reason = "the gateway did not say" } = answer.results[index] ?? {};
    if (outcome === "unchanged") counts[table].unchanged += 1;
    else if (outcome === "added") {
      counts[table].added += 1;
      addNotes(entry, at, accepted, notes, counts[table]);
    } else {
      counts[table].leftOut += 1;
      notes.push({ at, kind: "left out", what: `${entry.name}: ${reason}` });
    }
  }
}

function addNotes(
  { name, bounds, losses }: Entry,
  at: string,
  accepted: readonly string[],
  notes: DatabaseNote[],
  counts: TableCounts,
): void {
  const missing = bounds.filter(({ column }) => !accepted.includes(column));
  if (missing.length > 0) counts.blocked += 1;
  for (const { column, why } of missing)
    notes.push({ at, kind: "blocked", what: `${name}: ${column}: ${why}` });
  for (const { column, why } of [...bounds.filter((one) => !missing.includes(one)), ...losses])
    notes.push({ at, kind: "missing", what: `${name}: ${column}: ${why}` });
}

function noCounts(): TableCounts {
  return { added: 0, unchanged: 0, leftOut: 0, blocked: 0 };
}

/** The outcome for `--json`. */
export function outcomeJson({ keys, teams, notes }: DatabaseOutcome): JsonObject {
  const shown = ({ added, unchanged, leftOut, blocked }: TableCounts) => ({
    added,
    unchanged,
    left_out: leftOut,
    blocked,
  });
  return { keys: shown(keys), teams: shown(teams), notes: notes.map((note) => ({ ...note })) };
}
