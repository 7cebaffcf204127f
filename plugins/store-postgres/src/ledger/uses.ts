/** The use of keys: what each has spent since a time, and when it was used last. */

import type { KeyUse, KeyUseQuery } from "@sluice/contract";
import { HOUR_MS } from "@sluice/store-sql/sums";
import { DAY_MS, firstIdOf } from "./days-of-ids.ts";
import type { Reading } from "./read.ts";
import { readSpent } from "./spent.ts";

interface Sums {
  readonly cost: string;
  readonly newest_hour: number | null;
}

/** The sums of whole hours, and the newest hour that has any. */
const SUMS = `select
    coalesce(sum((select sum(nano_usd) from spend_hour where cell = c.id and hour >= k.first_hour)), 0)::text as cost,
    max((select max(hour) from spend_hour where cell = c.id)) as newest_hour
  from unnest($1::text[], $2::int[]) with ordinality k (key_id, first_hour, place)
  left join spend_cell c on c.key_id = k.key_id
  group by k.place order by k.place`;

/** The newest row of each key, in an hour that has one. An attempt may begin a day after its id. */
const NEWEST = `select (select max(started_at_ms) from ledger
      where key_id = k.key_id and request_id >= k.first_id and started_at_ms >= k.from_ms) as at_ms
  from unnest($1::text[], $2::uuid[], $3::bigint[]) with ordinality k (key_id, first_id, from_ms, place)
  order by k.place`;

/** Reads the use of each key. */
export async function readUses(
  reading: Reading,
  keys: readonly KeyUseQuery[],
): Promise<readonly KeyUse[]> {
  const { rows } = await reading.query<Sums>(SUMS, [
    keys.map(({ keyId }) => keyId),
    keys.map(({ fromMs }) => Math.ceil(fromMs / HOUR_MS)),
  ]);
  const newest = await newestOf(reading, keys, rows);
  const tags = await usedTags(reading, keys);
  const found: KeyUse[] = [];
  for (const [place, { keyId, fromMs, tag }] of keys.entries()) {
    let costNanoUsd = Number(rows[place]?.cost ?? 0) + (await edgeOf(reading, keyId, fromMs));
    if (tag !== undefined && tags.has(tag))
      costNanoUsd += await readSpent(reading, { tag, fromMs });
    found.push({ keyId, costNanoUsd, lastUsedAtMs: newest[place] ?? null });
  }
  return found;
}

/** The tags that any row has had: few keys have rows of others. */
async function usedTags(
  reading: Reading,
  keys: readonly KeyUseQuery[],
): Promise<ReadonlySet<string>> {
  const tags = keys.flatMap(({ tag }) => tag ?? []);
  if (tags.length === 0) return new Set();
  const { rows } = await reading.query<{ readonly tag: string }>(
    `select tag from unnest($1::text[]) asked (tag)
     where exists (select 1 from spend_total where subject = 'tag:' || asked.tag)`,
    [tags],
  );
  return new Set(rows.map(({ tag }) => tag));
}

/** The cost of the rows before the first whole hour. */
async function edgeOf(reading: Reading, keyId: string, fromMs: number): Promise<number> {
  if (fromMs % HOUR_MS === 0) return 0;
  return readSpent(reading, { keyId, fromMs, toMs: Math.ceil(fromMs / HOUR_MS) * HOUR_MS });
}

async function newestOf(
  reading: Reading,
  keys: readonly KeyUseQuery[],
  sums: readonly Sums[],
): Promise<readonly (number | null)[]> {
  // A key without rows is asked for in no partition.
  const hours = sums.map(
    ({ newest_hour: hour }) => hour ?? Math.floor(Number.MAX_SAFE_INTEGER / HOUR_MS),
  );
  const { rows } = await reading.query<{ readonly at_ms: number | null }>(NEWEST, [
    keys.map(({ keyId }) => keyId),
    hours.map((hour) => firstIdOf(hour * HOUR_MS - DAY_MS)),
    hours.map((hour) => hour * HOUR_MS),
  ]);
  return rows.map(({ at_ms: atMs }) => atMs);
}
