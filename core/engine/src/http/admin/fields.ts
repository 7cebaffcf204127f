/** Fields of an admin body: tables define them, and one function reads them. */

import { GatewayError, type JsonObject, type JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { MAX_DOLLARS, nanoUsdOf } from "@sluice/runtime";
import { nearest } from "../../config/validate/distance.ts";
import { endOfSpan, SPAN_FORMS } from "./span.ts";

/** One field: the record's member that it changes, its reader, and the value for `null`. */
export interface Field {
  readonly member: string;
  /** The member's value. Throws `invalid_field`, with the field as `param`. */
  read(value: JsonValue, name: string, nowMs: number): unknown;
  readonly cleared: unknown;
}

/** Fields by their names in a body. */
export type Fields = Readonly<Record<string, Field>>;

/** The changes of a body: the record's members, and the names of the fields for the audit. */
export interface Changes {
  readonly members: Readonly<Record<string, unknown>>;
  readonly names: readonly string[];
}

/**
 * Reads the changes of a body. An absent field changes nothing, a null clears. `others` are fields
 * that the route reads itself. Throws `invalid_field` for an unknown field, a wrong value, and two
 * fields for one member.
 */
export function readChanges(
  body: JsonObject,
  fields: Fields,
  others: readonly string[],
  nowMs: number,
): Changes {
  refuseUnknown(Object.keys(body), [...others, ...Object.keys(fields)], "field");
  const members: Record<string, unknown> = {};
  const names: string[] = [];
  for (const [name, { member, read, cleared }] of Object.entries(fields)) {
    const value = body[name];
    if (value === undefined) continue;
    if (Object.hasOwn(members, member)) {
      const other = names.find((given) => fields[given]?.member === member);
      throw invalid(name, `The fields ${other} and ${name} set the same value. Send one of them.`);
    }
    members[member] = value === null ? cleared : read(value, name, nowMs);
    names.push(name);
  }
  return { members, names };
}

/** Refuses unknown names, with the most similar known one. */
export function refuseUnknown(
  given: Iterable<string>,
  known: readonly string[],
  what: "field" | "query parameter",
): void {
  for (const name of given) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    const hint = meant === undefined ? `known here: ${known.join(", ")}` : `did you mean ${meant}?`;
    throw invalid(name, `The ${what} ${JSON.stringify(name.slice(0, 100))} is unknown; ${hint}`);
  }
}

/** A required text of a body: an id or a key. Throws `invalid_field` when it is missing. */
export function requiredText(body: JsonObject, name: string, what: string): string {
  const value = body[name];
  if (value === undefined || value === null || value === "")
    throw invalid(name, `The field ${name} is missing: ${what}.`);
  if (typeof value !== "string")
    throw invalid(name, `The field ${name} must be a string: ${what}.`);
  return value;
}

/** An `invalid_field` with its `param`. */
export function invalid(name: string, message: string): GatewayError {
  return new GatewayError("invalid_field", message, { param: name });
}

const MAX_TEXT = 256;
const MAX_NAMES = 1_000;
const CONTROL = /\p{Cc}/u;

/** A text of one line, 1 to 256 characters. */
export function readText(value: JsonValue, name: string): string {
  if (isText(value)) return value;
  throw invalid(
    name,
    `The field ${name} must be a string of 1 to ${MAX_TEXT} characters on one line.`,
  );
}

/** A list of names, each once. */
export function readNames(value: JsonValue, name: string): readonly string[] {
  if (Array.isArray(value) && value.length <= MAX_NAMES && value.every(isText))
    return [...new Set(value as string[])];
  throw invalid(
    name,
    `The field ${name} must be an array of strings: at most ${MAX_NAMES}, each of 1 to ${MAX_TEXT} characters.`,
  );
}

/** A whole number from 0. */
export function readCount(value: JsonValue, name: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value + 0;
  throw invalid(name, `The field ${name} must be a whole number, 0 or more; null means no limit.`);
}

/** US dollars, as the nearest whole number of nano-dollars. */
export function readDollars(value: JsonValue, name: string): number {
  const nanoUsd = typeof value === "number" ? nanoUsdOf(value) : undefined;
  if (nanoUsd !== undefined) return nanoUsd;
  throw invalid(
    name,
    `The field ${name} must be US dollars: a number from 0 to ${MAX_DOLLARS}; null means no limit.`,
  );
}

/** A span of a second or more, kept as text. */
export function readSpan(value: JsonValue, name: string): string {
  const lengthMs = typeof value === "string" ? endOfSpan(value, 0) : undefined;
  if (lengthMs !== undefined && lengthMs >= 1_000) return value as string;
  throw invalid(
    name,
    `The field ${name} must be a span of a second or more, such as ${SPAN_FORMS}.`,
  );
}

/** A span from now, as the time at which it ends. */
export function readLife(value: JsonValue, name: string, nowMs: number): number {
  const endMs = typeof value === "string" ? endOfSpan(value, nowMs) : undefined;
  if (endMs !== undefined && endMs > nowMs) return endMs;
  throw invalid(
    name,
    `The field ${name} must be a span of time, such as ${SPAN_FORMS}; null means for ever.`,
  );
}

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** A time to come: ISO 8601 with its zone, or a day in UTC. */
export function readTime(value: JsonValue, name: string, nowMs: number): number {
  const timeMs = typeof value === "string" && TIME.test(value) ? Date.parse(value) : Number.NaN;
  if (timeMs > nowMs) return timeMs;
  throw invalid(
    name,
    `The field ${name} must be a future time, such as 2030-01-31 or 2030-01-31T12:00:00Z; null means never.`,
  );
}

/** A boolean. */
export function readFlag(value: JsonValue, name: string): boolean {
  if (typeof value === "boolean") return value;
  throw invalid(name, `The field ${name} must be true or false.`);
}

/** Reads a field that must be an object. */
export function readNotes(value: JsonValue, name: string): JsonObject {
  if (isObject(value)) return value;
  throw invalid(name, `The field ${name} must be an object.`);
}

function isText(value: JsonValue): value is string {
  return (
    typeof value === "string" &&
    value.length > 0 &&
    value.length <= MAX_TEXT &&
    !CONTROL.test(value) &&
    value.isWellFormed()
  );
}
