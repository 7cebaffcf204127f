/** Imports an export of a LiteLLM database into the running gateway. */

import type { JsonObject } from "@sluice/contract";
import type { AskAdmin } from "../admin-client.ts";
import { type Entry, NO_MODEL, TABLES, type TableName } from "./entries/entry.ts";
import { placesOfKeys, readExport } from "./export/read-export.ts";
import { entriesOf, type Placed, type StreamOptions } from "./export/stream-entries.ts";
import { type DatabaseNote, noteJson, Notes } from "./notes.ts";
import { Uniques } from "./unique.ts";
import { missingReason, resolve } from "./references.ts";

/** Entries of one request, and their characters. */
const BATCH = 100;
const MAX_BATCH_CHARACTERS = 512 * 1024;

/** What is asked for. */
export interface DatabaseImport {
  readonly files: readonly string[];
  readonly isDryRun: boolean;
  /** Columns whose loss does not block. */
  readonly accepted: readonly string[];
  readonly nowMs: number;
  /** Whether budgets of users count for keys of teams. */
  readonly countsUserBudgets: boolean;
  /** Organizations that customers belong to; `""`: none. Absent: those of keys. */
  readonly customerPlaces?: readonly string[] | undefined;
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
  readonly counts: Readonly<Record<TableName, TableCounts>>;
  readonly notes: readonly DatabaseNote[];
}

/** The paths of the gateway, and the name of the list in their bodies. */
const PATHS: Readonly<Record<TableName, string>> = {
  budgets: "/budget/import",
  organizations: "/organization/import",
  access_groups: "/access_group/import",
  users: "/user/import",
  teams: "/team/import",
  members: "/team/member/import",
  keys: "/key/import",
  customers: "/customer/import",
};

/** What one import has done so far. */
interface Run {
  readonly asked: DatabaseImport;
  readonly ask: AskAdmin;
  readonly counts: Record<TableName, TableCounts>;
  readonly notes: Notes;
  readonly leftOut: Map<TableName, Set<string>>;
  readonly uniques: Uniques;
  readonly index: Awaited<ReturnType<typeof readExport>>["index"];
}

interface Sending {
  readonly at: string;
  readonly entry: Entry;
  readonly body: JsonObject;
  readonly bounds: readonly string[];
  /** Fields that are left out, because another record has their values. */
  readonly changed: readonly string[];
}

/**
 * Imports records in the order of their references. Rejects as the gateway's client does; what was
 * imported by then stays, and the import can be repeated. Throws an `Error` for a file that is no
 * export, before anything is sent.
 */
export async function importDatabase(
  asked: DatabaseImport,
  ask: AskAdmin,
): Promise<DatabaseOutcome> {
  const from = await readExport(asked.files);
  const { index } = from;
  const counts = Object.fromEntries(TABLES.map((table) => [table, noCounts()]));
  const run: Run = {
    asked,
    ask,
    counts: counts as Record<TableName, TableCounts>,
    notes: new Notes(),
    leftOut: new Map(TABLES.map((table) => [table, new Set<string>()])),
    uniques: new Uniques(),
    index,
  };
  for (const { at, name, why } of from.others)
    run.notes.add("missing", "export", `${name}: ${why}`, { at, name });
  for (const at of from.namelessMembers)
    run.notes.add("missing", "members", "a member without a user_id", { at, name: "member" });
  const { accepted, nowMs, countsUserBudgets } = asked;
  const options: StreamOptions = {
    reading: { index, nowMs, countsUserBudgets },
    customerPlaces: asked.customerPlaces ?? placesOfKeys(index),
    acceptsMembers: accepted.includes("members"),
  };
  for (const table of TABLES) {
    let batch: Sending[] = [];
    let characters = 0;
    for await (const placed of entriesOf(table, from, options)) {
      const sending = prepare(table, placed, run);
      if (sending === undefined) continue;
      const length = JSON.stringify(sending.body).length;
      if (batch.length >= BATCH || characters + length > MAX_BATCH_CHARACTERS) {
        await send(table, batch, run);
        [batch, characters] = [[], 0];
      }
      batch.push(sending);
      characters += length;
    }
    await send(table, batch, run);
  }
  return { counts: run.counts, notes: run.notes.list() };
}

/** The body of an entry; `undefined` where it is left out. */
function prepare(table: TableName, { at, entry }: Placed, run: Run): Sending | undefined {
  const { index, leftOut, asked, uniques } = run;
  const row = { at, name: entry.name };
  if ("leftOut" in entry) {
    if (entry.id !== undefined) leftOut.get(table)?.add(entry.id);
    return leaveOut(table, row, entry.leftOut, run);
  }
  const { accepted } = asked;
  const resolved = resolve(entry, index, leftOut, accepted);
  const refusal = "leftOut" in resolved ? resolved.leftOut : uniques.refusalOf(table, entry);
  if ("leftOut" in resolved || refusal !== undefined) {
    leftOut.get(table)?.add(entry.id);
    return leaveOut(table, row, refusal ?? "", run);
  }
  const isLost = ({ column }: { readonly column: string }): boolean => !accepted.includes(column);
  const bounds = [...entry.unreadable, ...entry.bounds].filter(isLost);
  const { body, changed } = uniques.bodyOf(table, entry, resolved.body);
  return {
    at,
    entry,
    body: {
      ...body,
      ...(bounds.length > 0 && closed(table, entry.unreadable.some(isLost))),
      ...(resolved.requires.length > 0 && { requires: resolved.requires }),
    },
    bounds: bounds.map(({ column, why }) => `${column}: ${why}`),
    changed: changed === undefined ? [] : [changed],
  };
}

/**
 * What keeps a record closed whose bounds cannot be held: it is blocked. Where a bound cannot be
 * read, unblocking alone opens nothing. A budget cannot be blocked: it admits no spending.
 */
function closed(table: TableName, isUnreadable: boolean): JsonObject {
  if (table === "budgets") return { max_budget: 0, soft_budget: null };
  return { blocked: true, ...(isUnreadable && { models: [NO_MODEL] }) };
}

function leaveOut(
  table: TableName,
  row: { readonly at: string; readonly name: string },
  why: string,
  { counts, notes }: Run,
): undefined {
  counts[table].leftOut += 1;
  notes.add("left out", table, why, row);
}

async function send(table: TableName, batch: readonly Sending[], run: Run): Promise<void> {
  if (batch.length === 0) return;
  const { asked, ask, counts, leftOut } = run;
  const body = {
    [table]: batch.map((one) => one.body),
    ...(asked.isDryRun && { dry_run: true }),
  };
  const answer = (await ask(PATHS[table], body)) as {
    readonly results: readonly {
      readonly outcome: string;
      readonly reason: string | null;
      readonly missing?: string;
      readonly changed?: readonly string[];
    }[];
  };
  for (const [index, { at, entry, bounds, changed }] of batch.entries()) {
    const result = answer.results[index];
    const { outcome = "refused", reason = "the gateway did not say" } = result ?? {};
    if (outcome === "unchanged") counts[table].unchanged += 1;
    else if (outcome === "added") {
      counts[table].added += 1;
      if (bounds.length > 0) counts[table].blocked += 1;
      addNotes(
        table,
        { at, entry, bounds, changed: [...changed, ...(result?.changed ?? [])] },
        run,
      );
    } else {
      leftOut.get(table)?.add(entry.id);
      const why = result?.missing === undefined ? reason : missingReason(result.missing);
      leaveOut(table, { at, name: entry.name }, why ?? "", run);
    }
  }
}

function addNotes(
  table: TableName,
  { at, entry: { name, bounds: held, unreadable, losses }, bounds, changed }: Omit<Sending, "body">,
  { notes, asked: { accepted } }: Run,
): void {
  const row = { at, name };
  for (const what of bounds) notes.add("blocked", table, what, row);
  for (const what of changed) notes.add("changed", table, what, row);
  const dropped = [...unreadable, ...held].filter(({ column }) => accepted.includes(column));
  for (const { column, why } of [...dropped, ...losses])
    notes.add("missing", table, `${column}: ${why}`, row);
}

function noCounts(): TableCounts {
  return { added: 0, unchanged: 0, leftOut: 0, blocked: 0 };
}

/** The outcome for `--json`. */
export function outcomeJson({ counts, notes }: DatabaseOutcome): JsonObject {
  const shown = TABLES.map((table) => {
    const { added, unchanged, leftOut, blocked } = counts[table];
    return [table, { added, unchanged, left_out: leftOut, blocked }];
  });
  return { ...(Object.fromEntries(shown) as JsonObject), notes: notes.map(noteJson) };
}
