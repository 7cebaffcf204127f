/**
 * Refuses members of bodies that parsers and copies read differently: names such as `__proto__`,
 * which change the prototype of a copy, names that differ from known ones only by case, repeated
 * names, and those of `extra_body`. Opaque values may have them.
 */

import { GatewayError, type JsonObject, type JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import {
  hasRepeatedMembers,
  type Member,
  nodesOf,
  PAGE_CHARACTERS,
  type PagedText,
} from "@sluice/kit/internals";
import { caseVariant } from "@sluice/runtime";
import { invalidField } from "./body-fields.ts";

/** At least the characters of the longest of these names. */
const LONGEST = 16;
const DANGEROUS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Whether a text may hold such a name, written out or with escapes. */
function isSuspect(text: string | PagedText): boolean {
  if (typeof text !== "string")
    return text.pages.some((page, index) => {
      const end = (index + 1) * PAGE_CHARACTERS;
      return isSuspect(page) || isSuspect(text.slice(end - LONGEST, end + LONGEST));
    });
  return text.includes("proto") || text.includes("constructor") || text.includes("\\u00");
}

/**
 * Places whose content is the client's own, copied whole: JSON Schemas and notes. `*` stands for an
 * index.
 */
const OPAQUE: ReadonlySet<string> = new Set([
  "metadata",
  "tools.*.function.parameters",
  "functions.*.parameters",
  "response_format.json_schema",
]);
/** The longest of them has four members: below that nothing is opaque, and places need no name. */
const DEEPEST_OPAQUE = 4;

/**
 * Throws `invalid_field` for such a member of a parsed body. `text` is what was parsed; its depth
 * is bounded.
 */
export function refuseDangerousMembers(text: string | PagedText, value: JsonObject): void {
  if (isSuspect(text)) visit(value, "", 0);
}

function visit(value: JsonValue | undefined, place: string, depth: number): void {
  if (Array.isArray(value)) {
    for (const item of value as readonly JsonValue[])
      if (typeof item === "object") visit(item, below(place, "*", depth), depth + 1);
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    if (DANGEROUS.has(name))
      throw new GatewayError("invalid_field", `The field ${name} is not allowed. Remove it.`, {
        param: name,
      });
    const member = value[name];
    if (typeof member !== "object") continue;
    const inner = below(place, name, depth);
    if (!OPAQUE.has(inner)) visit(member, inner, depth + 1);
  }
}

function below(place: string, name: string, depth: number): string {
  if (depth >= DEEPEST_OPAQUE) return "";
  return place === "" ? name : `${place}.${name}`;
}

/** Throws `invalid_field` for a member that some upstreams take for another one. */
export function refuseOtherReadings(body: JsonObject): void {
  refuseCaseVariants(body);
  refuseMergedMembers(body);
}

/** Throws `invalid_field` for a name that differs from a dialect's name only by case. */
function refuseCaseVariants(body: JsonObject): void {
  const found = caseVariant(body);
  if (found !== undefined)
    throw invalidField(
      found.path,
      `differs only by case from ${found.known}; write ${found.known}`,
    );
}

/** Members by which a request is judged, bounded and priced. */
const DECIDING: ReadonlySet<string> = new Set(
  (
    "model models fallbacks messages input prompt system instructions contents tools functions plugins " +
    "provider route stream n best_of max_tokens max_completion_tokens max_output_tokens"
  ).split(" "),
);

/**
 * Throws `invalid_field` for a deciding member of `extra_body`: upstreams that take `extra_body`
 * merge it over the request (docs.litellm.ai/docs/completion/input).
 */
function refuseMergedMembers({ extra_body }: JsonObject): void {
  let inner: JsonValue | undefined = extra_body;
  for (const path = ["extra_body"]; isObject(inner); path.push("extra_body")) {
    const found = Object.keys(inner).find((name) => DECIDING.has(name));
    if (found !== undefined)
      throw invalidField([...path, found], "must stand in the request itself");
    inner = inner.extra_body;
  }
}

/** The maximum of characters of a client's name in a message. */
const MAX_SHOWN = 80;

/** What a walk over the text of an object found. */
export interface Shape {
  /** The members of the outermost object, duplicates included. */
  readonly members: readonly Member[];
  /** The values of the text, as `nodesOf` counts those of the parsed object. */
  readonly nodes: number;
}

/**
 * Throws `invalid_field` for a member that an object of the body has twice, at any depth: parsers
 * differ in which one they return (RFC 8259 §4), and what is judged, priced or checked is what the
 * upstream reads. `shape`: that of the text that `value` was parsed from.
 */
export function refuseRepeatedMembers(
  text: string | PagedText,
  value: JsonObject,
  { members, nodes }: Shape,
): void {
  if (members.length === 0 || nodes === nodesOf(value)) return;
  if (Object.keys(value).length !== members.length) refuseFirstRepeated(members);
  for (const { key, start, end } of members)
    if (hasRepeatedMembers(`{${text.slice(start, end)}}`, { [key]: value[key] }))
      throw repeated("A member within", key.slice(0, MAX_SHOWN));
}

function refuseFirstRepeated(members: readonly Member[]): void {
  const seen = new Set<string>();
  for (const { key } of members) {
    if (seen.has(key)) throw repeated("The field", key.slice(0, MAX_SHOWN));
    seen.add(key);
  }
}

function repeated(what: string, name: string): GatewayError {
  const message = `${what} ${name} is repeated in the body. Send it once.`;
  return new GatewayError("invalid_field", message, { param: name });
}
