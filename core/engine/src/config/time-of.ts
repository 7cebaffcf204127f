/** Times as the configuration writes them: a day, a time of day, or either with an offset. */

import { fromLocal } from "@sluice/runtime";

const TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** What to write for a time, as the fix of a finding. */
export const TIME_FORMS = "write 2026-12-24, 2026-12-24T18:00 or 2026-12-24T18:00Z";

/**
 * The time in milliseconds since 1970; one without an offset is of the zone. `undefined` for a text
 * that is no time.
 */
export function timeOf(text: string, timeZone: string): number | undefined {
  if (!TIME.test(text)) return undefined;
  const hasZone = /(?:Z|[+-]\d{2}:\d{2})$/.test(text.slice("2026-12-24".length));
  const iso = text.length === "2026-12-24".length ? `${text}T00:00` : text.replace(" ", "T");
  const atMs = Date.parse(hasZone ? iso : `${iso}Z`);
  // The 31st of a short month would be the 1st of the next.
  if (
    Number.isNaN(atMs) ||
    (!hasZone && !new Date(atMs).toISOString().startsWith(iso.slice(0, 10)))
  )
    return undefined;
  return hasZone ? atMs : fromLocal(atMs, timeZone);
}
