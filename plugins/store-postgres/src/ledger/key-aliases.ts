/** The aliases of keys, as their newest rows have them. */

import { Conditions } from "./filter.ts";
import type { Reading } from "./read.ts";
import { addWindow, windowsBefore } from "./windows.ts";

/** The aliases of some keys. Keys without a row are left out. */
export async function newestAliases(
  reading: Reading,
  keys: Iterable<string>,
  nowMs: number,
): Promise<ReadonlyMap<string, string | null>> {
  const missing = new Set(keys);
  const found = new Map<string, string | null>();
  for (const window of windowsBefore(nowMs)) {
    if (missing.size === 0) break;
    const conditions = new Conditions().add("key_id = asked.id");
    conditions.parameters.push([...missing]);
    addWindow(conditions, window);
    // oxlint-disable-next-line no-await-in-loop -- the next one only for keys that are missing.
    const { rows } = await reading.query<{ readonly id: string; readonly alias: string | null }>(
      `select asked.id, newest.key_alias as alias from unnest($1::text[]) asked(id) cross join lateral (
         select key_alias from ledger where ${conditions.where}
         order by request_id desc, attempt desc limit 1) newest`,
      conditions.parameters,
    );
    for (const { id, alias } of rows) {
      found.set(id, alias);
      missing.delete(id);
    }
  }
  return found;
}
