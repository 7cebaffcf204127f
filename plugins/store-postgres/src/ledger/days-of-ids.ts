/**
 * Request ids are UUIDs of version 7: their first 48 bits are milliseconds since 1970 (RFC 9562,
 * 5.7). So a span of time is a range of ids.
 */

export const DAY_MS = 86_400_000;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Whether a text is a UUID as the column takes it. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The time of an id, in milliseconds since 1970. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The smallest id of a time. Times before 1970 have the smallest of all. */
export function firstIdOf(timeMs: number): string {
  const hex = Math.max(0, Math.trunc(timeMs)).toString(16).padStart(12, "0").slice(-12);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The UTC day of a time, as a whole number of days since 1970. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

/** `20261122`. */
export function dayName(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "");
}
