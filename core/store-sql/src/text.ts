/** Texts from clients, made safe to keep: no NUL characters, in columns and inside JSON. */

import { parseJson } from "@sluice/kit";

/**
 * Returns the text without NUL characters. SQLite would keep them, but its functions and every C
 * program that reads the file stop at the first, and Postgres refuses them.
 */
export function withoutNul(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "") : text;
}

/** Returns a value as JSON without NUL characters in its strings and member names. */
export function toJsonText(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  // An escaped NUL, or an escaped backslash before the letters: a parse distinguishes them.
  return text.includes("\\u0000") ? JSON.stringify(stripDeep(parseJson(text))) : text;
}

function stripDeep(value: unknown): unknown {
  if (typeof value === "string") return withoutNul(value);
  if (Array.isArray(value)) return value.map(stripDeep);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [withoutNul(name), stripDeep(member)]),
  );
}

/** Reads a list of strings from its column. A null column is an empty list. */
export function readList(text: unknown): readonly string[] {
  const value: unknown = typeof text === "string" ? parseJson(text) : [];
  return Array.isArray(value) ? value.map(String) : [];
}

/** Reads an object from its column. A null column is an empty object. */
export function readObject(text: unknown): Readonly<Record<string, unknown>> {
  const value: unknown = typeof text === "string" ? parseJson(text) : {};
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
