/**
 * Parses JSON with the names that the text has.
 *
 * V8 of Node 24 to 26 takes a name of an earlier text for one with an escape (nodejs/node#63785):
 * after `{"a":1,"\\u006":1}` it reads `{"a":1,"\u006dodel":1}` as `{"a":1,"\\u006":1}`. A client
 * could name a member so that the gateway does not find it and an upstream does.
 */

import { randomBytes } from "node:crypto";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "./narrow.ts";
import { isSpace, QUOTE, skipSpace, stringEnd } from "./scan.ts";

const BACKSLASH = 92;
const COLON = 58;

/** The prefix of a name that stands for another during a parse. It is random: no text has it. */
const STAND_IN = `#${randomBytes(12).toString("base64url")}`;

/** What a name in quotes cannot hold without an escape. */
// oxlint-disable-next-line no-control-regex
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/;

/** The second argument of `JSON.parse`. Names that need an escape have another name there. */
export type Revive = (
  name: string,
  value: unknown,
  context?: { readonly source?: string },
) => unknown;

/** Parses a text as `parseJson` does. */
export type ParseText = (text: string) => unknown;

/**
 * Parses JSON as `JSON.parse` is specified; that of V8 misreads names with escapes. Throws its
 * `SyntaxError` for a text that is not JSON.
 */
export function parseJson(text: string, revive?: Revive): unknown {
  return text.includes("\\") && hasEscapedName(text)
    ? parseEscapedNames(text, revive)
    : (JSON.parse(text, revive) as unknown);
}

/** Whether a name has an escape. A string in front of a colon is taken for a name. */
function hasEscapedName(text: string): boolean {
  for (let colon = text.indexOf(":"); colon >= 0; colon = text.indexOf(":", colon + 1)) {
    let at = colon - 1;
    while (isSpace(text.charCodeAt(at))) at--;
    if (text.charCodeAt(at) !== QUOTE) continue;
    const end = at--;
    while (text.charCodeAt(at) === BACKSLASH) at--;
    const escapes = end - at - 1;
    // A quote behind an odd number of backslashes does not end a string.
    if (escapes % 2 === 1) continue;
    if (escapes > 0) return true;
    for (let code = text.charCodeAt(at); code !== QUOTE && at > 0; code = text.charCodeAt(--at))
      if (code === BACKSLASH) return true;
    if (text.charCodeAt(at - 1) === BACKSLASH) return true;
  }
  return false;
}

/** Writes names without escapes for `JSON.parse`. Another name stands for one that needs them. */
function parseEscapedNames(text: string, revive?: Revive): unknown {
  const plain = new PlainNames(text);
  let value: unknown;
  try {
    value = JSON.parse(plain.text(), revive);
  } catch {
    // Positions of the error are those of the text.
    return JSON.parse(text, revive);
  }
  return plain.replaced.size === 0 ? value : renamed(value, plain.replaced);
}

/** Rewrites a text so that its names have no escapes. */
class PlainNames {
  /** The names in place of those that need an escape, and what they stand for. */
  readonly replaced = new Map<string, string>();
  readonly #text: string;
  readonly #byName = new Map<string, string>();

  constructor(text: string) {
    this.#text = text;
  }

  text(): string {
    const text = this.#text;
    let written = "";
    let copied = 0;
    for (let quote = text.indexOf('"'); quote >= 0;) {
      const end = stringEnd(text, quote);
      if (text.charCodeAt(skipSpace(text, end)) === COLON) {
        const name = text.slice(quote, end);
        if (name.includes("\\")) {
          written += `${text.slice(copied, quote)}"${this.#plain(JSON.parse(name) as string)}"`;
          copied = end;
        }
      }
      quote = text.indexOf('"', end);
    }
    return written + text.slice(copied);
  }

  #plain(name: string): string {
    if (!NEEDS_ESCAPE.test(name)) return name;
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const other = STAND_IN + String(this.replaced.size);
    this.#byName.set(name, other);
    this.replaced.set(other, name);
    return other;
  }
}

/** A value whose members have their names, in their order. */
function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  const outermost = [value];
  const left: Container[] = [outermost as unknown as Container];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const name of Object.keys(next)) {
      const member = next[name];
      if (typeof member !== "object" || member === null) continue;
      const named = isObject(member) ? withNames(member, names) : member;
      if (named !== member) putMember(next, name, named);
      left.push(named as Container);
    }
  }
  return outermost[0];
}

type Container = Record<string, unknown>;

/** The same object where each member has its name. */
function withNames(object: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const own = Object.keys(object);
  if (!own.some((name) => names.has(name))) return object;
  const made: Container = {};
  for (const name of own) putMember(made, names.get(name) ?? name, object[name]);
  return made as JsonObject;
}

/** The value of a text; `undefined` for a text that is not JSON. */
export function jsonIn(text: string): JsonValue | undefined {
  try {
    return parseJson(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Gives an object a member of any name. */
export function putMember(into: Record<string, unknown>, name: string, value: unknown): void {
  // An assignment to this name would set the object's prototype.
  if (name === "__proto__")
    Object.defineProperty(into, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else into[name] = value;
}
