/** Completions and help at a place of a configuration file, from the merged schemas. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { cursorAt, type Cursor } from "./cursor.ts";
import { type FileKind, namesAt } from "./names.ts";
import { schemasAt } from "./schemas-at.ts";

/** What may be written. */
export interface Completion {
  readonly label: string;
  /** The text that takes the place of the word. */
  readonly insert: string;
  readonly kind: "key" | "value" | "name" | "reference";
  /** In a word: a type, a kind of thing, whether a reference is set. */
  readonly detail: string | null;
  readonly about: string | null;
}

/** What a word means. */
export interface Help {
  readonly title: string;
  readonly about: string | null;
  readonly type: string | null;
  readonly preset: string | null;
}

/** The answer for a place. Offsets are UTF-16 code units of the text. */
export interface Completed {
  readonly from: number;
  readonly to: number;
  readonly completions: readonly Completion[];
  readonly help: Help | null;
}

/** A reference of the files, and whether it has a value. */
export interface KnownReference {
  readonly written: string;
  readonly isSet: boolean;
}

/** What completions are made from. */
export interface CompletionParts {
  readonly kind: FileKind;
  readonly schema: JsonObject;
  /** The data of the gateway file. */
  readonly gateway: unknown;
  readonly references: readonly KnownReference[];
}

const MAX_COMPLETIONS = 200;

/** Completes the text at an offset. */
export function complete(text: string, offset: number, parts: CompletionParts): Completed {
  const cursor = cursorAt(text, offset);
  if (cursor === undefined) return { from: offset, to: offset, completions: [], help: null };
  const { from, to, word } = cursor;
  const completions = word.startsWith("$") ? referencesOf(parts) : wordsOf(cursor, parts);
  const typed = text.slice(from, offset).toLowerCase();
  const rank = ({ label }: Completion): number => (label.toLowerCase().startsWith(typed) ? 0 : 1);
  const fitting = completions
    .filter(({ label }) => label.toLowerCase().includes(typed))
    .toSorted((a, b) => rank(a) - rank(b));
  return {
    from,
    to,
    completions: fitting.slice(0, MAX_COMPLETIONS),
    help: helpOf(cursor, parts),
  };
}

function wordsOf(cursor: Cursor, parts: CompletionParts): readonly Completion[] {
  const { role, path, isEntry, keys, value } = cursor;
  const schemas = schemasAt(parts.schema, path, value);
  const values = role === "value" || isEntry ? valuesOf(schemas, cursor, parts) : [];
  return unique(role === "key" ? [...values, ...keysOf(schemas, keys)] : values);
}

function keysOf(schemas: readonly JsonObject[], present: readonly string[]): Completion[] {
  return schemas.flatMap(({ properties, required }) => {
    if (!isObject(properties)) return [];
    const must = Array.isArray(required) ? (required as readonly JsonValue[]) : [];
    return Object.entries(properties)
      .filter(([name]) => !present.includes(name))
      .map(([name, schema]): Completion => {
        const form = isObject(schema) ? schema : {};
        const isSection = typesOf(form).some((type) => type === "object" || type === "array");
        return {
          label: name,
          insert: isSection ? `${name}:` : `${name}: `,
          kind: "key",
          detail: must.includes(name) ? "required" : typesOf(form).join(" or ") || null,
          about: aboutOf(form),
        };
      });
  });
}

function valuesOf(
  schemas: readonly JsonObject[],
  { path }: Cursor,
  { kind, gateway }: CompletionParts,
): Completion[] {
  const names = namesAt(kind, path, gateway).map(({ name, what }): Completion => ({
    label: name,
    insert: scalar(name),
    kind: "name",
    detail: what,
    about: null,
  }));
  const words = schemas.flatMap((schema) => {
    const about = aboutOf(schema);
    const { enum: words_ = [], const: only, default: preset, type } = schema;
    const given = [
      ...(Array.isArray(words_) ? (words_ as readonly JsonValue[]) : []),
      ...(only === undefined ? [] : [only]),
      ...(type === "boolean" ? [true, false] : []),
    ];
    const isPreset = preset !== undefined && !isObject(preset) && !Array.isArray(preset);
    const all = isPreset && !given.includes(preset) ? [...given, preset] : given;
    return all
      .filter((word) => typeof word !== "object")
      .map((word): Completion => ({
        label: String(word),
        insert: scalar(String(word)),
        kind: "value",
        detail: word === preset ? "default" : null,
        about: only === undefined ? null : about,
      }));
  });
  return [...names, ...words];
}

function referencesOf({ references }: CompletionParts): readonly Completion[] {
  return references.map(({ written, isSet }) => ({
    label: written,
    insert: written,
    kind: "reference",
    detail: isSet ? "set" : "not set",
    about: null,
  }));
}

/** What the word under the cursor means. */
function helpOf(cursor: Cursor, { schema, kind }: CompletionParts): Help | null {
  const { role, path, value, word, isEntry } = cursor;
  const isKey = role === "key" && !isEntry;
  const at = isKey ? [...path, word] : path;
  const schemas = schemasAt(schema, at, isKey ? undefined : value);
  const named = isKey ? schemasAt(schema, path, value).flatMap((one) => memberOf(one, word)) : [];
  const chosen = schemas.find((one) => one["const"] === word && aboutOf(one) !== null);
  const found = chosen ?? [...named, ...schemas].find((one) => aboutOf(one) !== null);
  if (found === undefined || word === "") return null;
  const preset = found["default"];
  return {
    title: isKey ? at.filter((part) => typeof part === "string").join(".") : word,
    about: aboutOf(found),
    type: typesOf(found).join(" or ") || (kind === "prices" ? "price" : null),
    preset: preset === undefined || isObject(preset) ? null : JSON.stringify(preset),
  };
}

function memberOf({ properties }: JsonObject, name: string): readonly JsonObject[] {
  const member = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : null;
  return isObject(member) ? [member] : [];
}

function aboutOf({ description }: JsonObject): string | null {
  return typeof description === "string" ? description : null;
}

/** Types in the words of JSON Schema, those of alternatives too. */
function typesOf({ type, enum: words, anyOf, oneOf }: JsonObject): readonly string[] {
  if (Array.isArray(words)) return ["word"];
  const own = typeof type === "string" ? [type] : Array.isArray(type) ? type.map(String) : [];
  const others = [anyOf, oneOf].flatMap((list) =>
    Array.isArray(list) ? (list as readonly JsonValue[]).filter((one) => isObject(one)) : [],
  );
  return [...new Set([...own, ...others.flatMap((one) => typesOf(one))])];
}

/** A scalar as YAML writes it. */
function scalar(text: string): string {
  const isPlain = /^[A-Za-z0-9][\w./@-]*$/.test(text) || /^[A-Za-z0-9][\w./@-]*\*$/.test(text);
  return isPlain ? text : JSON.stringify(text);
}

function unique(completions: readonly Completion[]): readonly Completion[] {
  const seen = new Map<string, Completion>();
  for (const one of completions) if (!seen.has(one.label)) seen.set(one.label, one);
  return [...seen.values()];
}
