/**
 * Finds rows by the ids of their completions. An index of the ids would change a page of the file
 * for each row, since they are random: blocks of short digests with times are written one behind
 * the other.
 */

import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { DatabaseSync } from "node:sqlite";
import { AT, type LedgerValues } from "./sums/amounts.ts";

/** Bytes of an entry: a digest of the id, and the row's time as a double. */
const ENTRY_BYTES = 12;
const DIGEST_BYTES = 4;
/** Entries of a block: one page of the file holds it. */
const MAX_ENTRIES = 330;
/** Times that a search takes from blocks. An id with more rows is common: it is soon found. */
const MAX_TIMES = 1_000;
/** Rows that the migration reads at a time. */
const FILLED_ROWS = 10_000;

/** Prepares what adds rows, within their transaction. */
export function createCompletionWriter(
  database: DatabaseSync,
): (rows: readonly LedgerValues[]) => void {
  const last = database.prepare(
    "select id, last_ms, entries from completion_block order by id desc limit 1",
  );
  const extend = database.prepare(
    "update completion_block set last_ms = ?, entries = ? where id = ?",
  );
  const add = database.prepare("insert into completion_block (last_ms, entries) values (?, ?)");
  return (rows) => {
    const entries = entriesOf(
      rows.map((row) => ({ id: row[AT.completion_id], atMs: row[AT.started_at_ms] })),
    );
    if (entries.length === 0) return;
    const block = last.get();
    let rest = entries;
    if (block !== undefined) {
      const before = Buffer.from(block["entries"] as Uint8Array);
      const more = rest.subarray(0, MAX_ENTRIES * ENTRY_BYTES - before.length);
      rest = rest.subarray(more.length);
      if (more.length > 0) {
        const lastMs = Math.max(Number(block["last_ms"]), newestOf(more));
        extend.run(lastMs, Buffer.concat([before, more]), Number(block["id"]));
      }
    }
    for (const more of blocksOf(rest)) add.run(newestOf(more), more);
  };
}

/** The times that rows of a completion may have; `undefined`: too many to name. */
export type CompletionTimes = (
  completionId: string,
  fromMs: number | undefined,
) => readonly number[] | undefined;

/** Makes the search of an open database. */
export function createCompletionTimes(database: DatabaseSync): CompletionTimes {
  let find: ReturnType<DatabaseSync["prepare"]> | undefined;
  return (completionId, fromMs = -Infinity) => {
    find ??= database.prepare(
      "select entries from completion_block where last_ms >= ? and instr(entries, ?) > 0",
    );
    const digest = digestOf(completionId);
    const bytes = Buffer.alloc(DIGEST_BYTES);
    bytes.writeUInt32BE(digest);
    const times = new Set<number>();
    for (const found of find.iterate(fromMs, bytes)) {
      const entries = Buffer.from(found["entries"] as Uint8Array);
      for (let at = 0; at < entries.length; at += ENTRY_BYTES)
        if (entries.readUInt32BE(at) === digest) times.add(entries.readDoubleBE(at + DIGEST_BYTES));
      if (times.size > MAX_TIMES) return undefined;
    }
    return [...times];
  };
}

/** Makes the blocks of the rows that are there, in place of the index of earlier versions. */
export async function createCompletionBlocks(database: Kysely<unknown>): Promise<void> {
  await sql`create table completion_block (
    id integer primary key, last_ms integer not null, entries blob not null)`.execute(database);
  interface Row {
    readonly request_id: string;
    readonly attempt: number;
    readonly id: string | null;
    readonly at_ms: number | null;
  }
  let requestId = "";
  let attempt = 0;
  for (;;) {
    const { rows } = await sql<Row>`
      select request_id, attempt, completion_id as id, started_at_ms as at_ms from ledger
      where (request_id, attempt) > (${requestId}, ${attempt})
      order by request_id, attempt limit ${FILLED_ROWS}`.execute(database);
    const last = rows.at(-1);
    if (last === undefined) break;
    ({ request_id: requestId, attempt } = last);
    for (const block of blocksOf(entriesOf(rows.map(({ id, at_ms: atMs }) => ({ id, atMs })))))
      await sql`insert into completion_block (last_ms, entries)
        values (${newestOf(block)}, ${block})`.execute(database);
  }
  await sql`drop index ledger_by_completion`.execute(database);
}

/** The entries of rows that have both. */
function entriesOf(rows: readonly { readonly id: unknown; readonly atMs: unknown }[]): Buffer {
  const entries = Buffer.allocUnsafe(rows.length * ENTRY_BYTES);
  let length = 0;
  for (const { id, atMs } of rows) {
    if (typeof id !== "string" || typeof atMs !== "number") continue;
    entries.writeUInt32BE(digestOf(id), length);
    entries.writeDoubleBE(atMs, length + DIGEST_BYTES);
    length += ENTRY_BYTES;
  }
  return entries.subarray(0, length);
}

function* blocksOf(entries: Buffer): Generator<Buffer> {
  const size = MAX_ENTRIES * ENTRY_BYTES;
  for (let at = 0; at < entries.length; at += size) yield entries.subarray(at, at + size);
}

function newestOf(entries: Buffer): number {
  let newest = -Infinity;
  for (let at = DIGEST_BYTES; at < entries.length; at += ENTRY_BYTES)
    newest = Math.max(newest, entries.readDoubleBE(at));
  return newest;
}

/** FNV-1a over UTF-16 units, 32 bits. */
function digestOf(id: string): number {
  let digest = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) digest = Math.imul(digest ^ id.charCodeAt(at), 0x01000193);
  return digest >>> 0;
}
