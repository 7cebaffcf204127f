/** Values of a database export: JSON has types, CSV has PostgreSQL's texts. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/** One row by its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** A text; `undefined` where it is null or empty. */
export function textAt(row: Row, column: string): string | undefined {
  const value = row[column];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A finite number; `undefined` where it is null or no number. */
export function numberAt(row: Row, column: string): number | undefined {
  const value = row[column];
  if (value === null || value === undefined || value === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Whether a boolean is true. */
export function isTrueAt(row: Row, column: string): boolean {
  const value = row[column];
  return value === true || value === "t" || value === "true";
}

/** Whether a boolean is false or absent. */
export function isFalseAt(row: Row, column: string): boolean {
  const value = row[column];
  return [undefined, null, "", false, "f", "false"].includes(value as string);
}

/** A list of texts; empty where it is null or cannot be read. */
export function listAt(row: Row, column: string): readonly string[] {
  return readListAt(row, column) ?? [];
}

/**
 * A list of texts: a JSON array, or PostgreSQL's `{a,"b c"}`. Empty where it is null; `undefined`
 * for any other form, and where an item is no text or an empty one.
 */
export function readListAt(row: Row, column: string): readonly string[] | undefined {
  const value = row[column];
  if (value === null || value === undefined || value === "") return [];
  const items = Array.isArray(value) ? (value as unknown[]) : itemsOf(value);
  return items?.every((item) => typeof item === "string" && item !== "") === true
    ? (items as string[])
    : undefined;
}

function itemsOf(value: unknown): unknown[] | undefined {
  if (typeof value !== "string") return undefined;
  if (value.startsWith("[")) {
    const items = parsed(value);
    return Array.isArray(items) ? items : undefined;
  }
  if (!value.startsWith("{") || !value.endsWith("}")) return undefined;
  const items = value.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g);
  return [...items].flatMap(([, quoted, bare]) => {
    if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, "$1");
    return bare === undefined || bare === "NULL" ? [] : bare;
  });
}

/** An object; empty where it is null. Prisma writes some of them as a JSON text. */
export function objectAt(row: Row, column: string): JsonObject {
  let value = row[column];
  for (let depth = 0; depth < 2 && typeof value === "string"; depth += 1) value = parsed(value);
  return isObject(value) ? value : {};
}

/** Whether a column holds anything: not null, an empty text, `{}` or `[]`. */
export function hasContent(row: Row, column: string): boolean {
  const written = row[column];
  // A text that is no JSON is content too.
  const value = typeof written === "string" ? textOrJson(written) : written;
  if (value === null || value === undefined || value === "") return false;
  if (typeof value !== "object") return true;
  return Object.keys(value).length > 0;
}

/** A time in milliseconds since 1970. A time without a zone is in UTC, as Prisma writes it. */
export function timeAt(row: Row, column: string): number | undefined {
  const text = textAt(row, column);
  if (text === undefined) return undefined;
  const iso = text
    .trim()
    .replace(" ", "T")
    .replace(/([+-]\d\d)$/, "$1:00");
  const timeMs = Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(iso) ? iso : `${iso}Z`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

function textOrJson(text: string): unknown {
  const json = parsed(text);
  return json === undefined ? text.trim() : json;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
