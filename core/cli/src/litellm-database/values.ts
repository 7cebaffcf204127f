/** Values of a database export: JSON has types, CSV has PostgreSQL's texts. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";

/** One row by its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** A text; `undefined` where it is null, empty or no text. */
export function textAt(row: Row, column: string): string | undefined {
  const value = row[column];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** An id as the gateway keeps ids: in Unicode NFC. */
export function idAt(row: Row, column: string): string | undefined {
  return textAt(row, column)?.normalize("NFC");
}

/** A finite number, also one that is written as a text; `undefined` where it is null or none. */
export function numberAt(row: Row, column: string): number | undefined {
  const value = row[column];
  const isWritten = typeof value === "string" && value.trim() !== "";
  if (typeof value !== "number" && !isWritten) return undefined;
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
  if (!value.startsWith("[")) return itemsOfPostgres(value);
  const items = parsed(value);
  return Array.isArray(items) ? items : undefined;
}

/** https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
const ITEM = /(?:"((?:[^"\\]|\\[^])*)"|([^",{}\\]+))([,}])/y;

/** `NULL` without quotes is no text. */
function itemsOfPostgres(value: string): unknown[] | undefined {
  if (value === "{}") return [];
  if (!value.startsWith("{")) return undefined;
  const items: unknown[] = [];
  ITEM.lastIndex = 1;
  for (;;) {
    const at = ITEM.exec(value);
    if (at === null) return undefined;
    const [, quoted, bare, end] = at;
    if (quoted !== undefined) items.push(quoted.replaceAll(/\\([^])/g, "$1"));
    else items.push(bare?.toUpperCase() === "NULL" ? null : bare);
    if (end === "}") return ITEM.lastIndex === value.length ? items : undefined;
  }
}

/** An object; empty where it is null. Prisma writes some of them as a JSON text. */
export function objectAt(row: Row, column: string): JsonObject {
  const value = jsonAt(row, column);
  return isObject(value) ? value : {};
}

/** A JSON value; `undefined` where it is null or cannot be read. */
export function jsonAt(row: Row, column: string): JsonValue | undefined {
  let value = row[column];
  for (let depth = 0; depth < 2 && typeof value === "string"; depth += 1) value = parsed(value);
  return (value as JsonValue | undefined) ?? undefined;
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

/** A time as ISO 8601. */
export function isoAt(row: Row, column: string): string | undefined {
  const timeMs = timeAt(row, column);
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString();
}

/** One member, unless its value is undefined. */
export function defined(name: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

function textOrJson(text: string): unknown {
  const json = parsed(text);
  return json === undefined ? text.trim() : json;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text) as JsonValue;
  } catch {
    return undefined;
  }
}
