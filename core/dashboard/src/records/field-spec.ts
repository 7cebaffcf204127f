/**
 * Fields of records as data: how each is shown, typed, sent to the gateway, and named on the
 * command line.
 */

import type { Choice } from "../parts/field.tsx";
import type { Option } from "../parts/combobox.tsx";

/** What a record of the gateway is, as far as a form looks. */
export type RecordView = object;

/** Options for a typed text. */
export type OptionsFor = (text: string, signal: AbortSignal) => Promise<readonly Option[]>;

interface Named {
  /** The field's name in bodies and in views. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly group: string;
  /** The option of `sluice`: `--alias`. Absent: the command line has none. */
  readonly option?: string;
  /** The command line takes it as a word of its own, before the options. */
  readonly isPositional?: boolean;
  /** Only a new record has it. */
  readonly isFixed?: boolean;
  /** Only records that exist have it. */
  readonly isLater?: boolean;
}

/** A field. */
export type FieldSpec = Named &
  (
    | { readonly kind: "text" }
    | { readonly kind: "money" | "count" }
    | { readonly kind: "choice"; readonly choices: readonly Choice[]; readonly normal: string }
    | { readonly kind: "names"; readonly optionsFor?: OptionsFor; readonly takesOthers: boolean }
    | { readonly kind: "ref"; readonly optionsFor: OptionsFor; readonly takesOthers: boolean }
    | { readonly kind: "flag" }
    | { readonly kind: "json" }
    | { readonly kind: "time" }
  );

/** What a form holds for a field: what was typed. */
export type DraftValue = string | readonly string[] | boolean;

/** What was typed, by the names of the fields. */
export type Draft = Readonly<Record<string, DraftValue>>;

/** A draft that shows a record. */
export function draftOf(specs: readonly FieldSpec[], record: RecordView): Draft {
  const values = record as Readonly<Record<string, unknown>>;
  return Object.fromEntries(specs.map((spec) => [spec.name, shownValue(spec, values[spec.name])]));
}

function shownValue(spec: FieldSpec, value: unknown): DraftValue {
  switch (spec.kind) {
    case "flag":
      return value === true;
    case "names":
      return Array.isArray(value) ? value.map(String) : [];
    case "ref":
      return typeof value === "string" && value !== "" ? [value] : [];
    case "choice":
      return typeof value === "string" ? value : spec.normal;
    case "json":
      return isFilled(value) ? JSON.stringify(value, null, 2) : "";
    case "time":
      return typeof value === "string" ? localTime(value) : "";
    case "text":
    case "money":
    case "count":
      return value === null || value === undefined ? "" : String(value);
  }
}

function isFilled(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0;
}

/** A time as `datetime-local` has it: in the browser's zone, without seconds. */
function localTime(iso: string): string {
  const at = new Date(iso);
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** A value of a body, or what is wrong with what was typed. */
export type Read = { readonly value: unknown } | { readonly fault: string };

/** Reads what was typed. `null` is an empty field. */
export function readValue(spec: FieldSpec, typed: DraftValue | undefined): Read {
  switch (spec.kind) {
    case "flag":
      return { value: typed === true };
    case "names":
      return { value: Array.isArray(typed) && typed.length > 0 ? typed : null };
    case "ref":
      return { value: Array.isArray(typed) ? (typed[0] ?? null) : null };
    case "choice":
      return { value: typed === spec.normal || typed === "" ? null : typed };
    case "text":
      return { value: textOf(typed) === "" ? null : textOf(typed) };
    case "time": {
      const text = textOf(typed);
      if (text === "") return { value: null };
      const atMs = Date.parse(text);
      return Number.isNaN(atMs)
        ? { fault: "Not a time." }
        : { value: new Date(atMs).toISOString() };
    }
    case "money":
    case "count":
      return readNumber(spec.kind, textOf(typed));
    case "json":
      return readJson(textOf(typed));
  }
}

function textOf(typed: DraftValue | undefined): string {
  return typeof typed === "string" ? typed.trim() : "";
}

/** `1250.5`, `$1,250.50`, `1e-7`. A comma stands between thousands alone: `1,5` is no 15. */
const NUMBER = /^\$?\s*(?=.*\d)(?:\d+|\d{1,3}(?:,\d{3})+)?(?:\.\d*)?(?:e[+-]?\d+)?$/i;

/** Reads a typed number. */
export function readNumber(kind: "money" | "count", text: string): Read {
  if (text === "") return { value: null };
  const number = NUMBER.test(text) ? Number(text.replaceAll(/[$,]/g, "")) : NaN;
  if (!Number.isFinite(number))
    return { fault: `Not a number from 0, such as ${kind === "count" ? "1250" : "1250.5"}.` };
  if (kind === "count" && !Number.isInteger(number)) return { fault: "Not a whole number." };
  return { value: number };
}

function readJson(text: string): Read {
  if (text === "") return { value: null };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { value };
  } catch {
    // Said below: the texts of the browsers differ.
  }
  return { fault: 'Not a JSON object, such as {"cost_center": "42"}.' };
}

/** The body of a request, or what is wrong, by field. */
export interface ReadDraft {
  readonly body: Readonly<Record<string, unknown>>;
  readonly faults: Readonly<Record<string, string>>;
}

/** Reads a draft. With `before`, the body has the changed fields alone: null for emptied ones. */
export function readDraft(specs: readonly FieldSpec[], draft: Draft, before?: Draft): ReadDraft {
  const body: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const spec of specs) {
    const typed = draft[spec.name];
    if (before !== undefined && isSame(typed, before[spec.name])) continue;
    const read = readValue(spec, typed);
    if ("fault" in read) faults[spec.name] = read.fault;
    else if (before !== undefined) body[spec.name] = read.value;
    else if (read.value !== null && read.value !== false) body[spec.name] = read.value;
  }
  return { body, faults };
}

/** Whether two typed values are one. */
export function isSame(a: DraftValue | undefined, b: DraftValue | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The options of the command line for a body, and whether it has one for each field. */
export function optionsOf(
  specs: readonly FieldSpec[],
  body: Readonly<Record<string, unknown>>,
): readonly string[] | undefined {
  const words: string[] = [];
  const cleared: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    const spec = specs.find((one) => one.name === name);
    if (spec?.isPositional === true && typeof value === "string") {
      words.unshift(value);
      continue;
    }
    if (spec?.option === undefined) return undefined;
    if (value === null) cleared.push(name);
    else if (value === true) words.push(spec.option);
    else if (value === false) return undefined;
    else words.push(spec.option, wordOf(value));
  }
  if (cleared.length > 0) words.push("--clear", cleared.join(","));
  return words;
}

function wordOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
