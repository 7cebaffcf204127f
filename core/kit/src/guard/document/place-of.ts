/** The kind of a member's content, by its name, its place, and its object. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { type Content, type Leaf, MEMBERS, type PlaceName, STRING_AT } from "./places.ts";

/** Encoded content, and the places that hold it. Blocks have them; messages do not. */
const ENCODED: ReadonlySet<Content> = new Set<Content>([
  "url",
  "file",
  "base64",
  "sealed",
  "data",
  "result",
  "image",
  "sound",
  "fileData",
  "source",
  "document",
  "inline",
]);

/**
 * Types of objects whose sealed texts the provider made: it refuses another text there. In an
 * object of another type the member may be a text that the model reads.
 */
const SEALED_TYPES: Readonly<Record<string, ReadonlySet<unknown>>> = {
  encrypted_content: new Set([
    "reasoning",
    "compaction",
    "compaction_summary",
    "web_search_result",
  ]),
  signature: new Set(["thinking", "reasoning", "reasoning.text", undefined]),
};

function isSealing(name: string, type: JsonValue | undefined): boolean {
  return SEALED_TYPES[name]?.has(type) !== false;
}

/** The kind of a member at a place; `undefined`: no dialect has the member there. */
export function contentOf(
  name: string,
  place: PlaceName,
  owner: JsonObject | undefined,
): Content | undefined {
  const content = MEMBERS[place][name];
  if (content === undefined || owner === undefined || !ENCODED.has(content)) return content;
  if (typeof owner.role === "string") return undefined;
  if (content === "sealed" && !isSealing(name, owner.type)) return "text";
  if (content === "data") return owner.type === "redacted_thinking" ? "sealed" : undefined;
  if (content === "result") return owner.type === "image_generation_call" ? "base64" : "text";
  // Of a source of text, `data` is the text.
  if (content === "base64" && place === "source" && name === "data")
    return owner.type === "base64" ? content : "text";
  return content;
}

/**
 * The kind of a string there, or of each string of a list; `undefined`: a text that no dialect
 * names.
 */
export function leafOf(content: Content | undefined): Leaf | undefined {
  if (content === undefined) return undefined;
  if (isPlace(content)) return STRING_AT[content] ?? "text";
  return content === "open" ? undefined : content;
}

/** The place for the members of an object there; `undefined`: no dialect names them. */
export function placeOf(content: Content | undefined): PlaceName | undefined {
  return content !== undefined && isPlace(content) ? content : undefined;
}

/** Whether content is a place with named members. */
export function isPlace(content: Content): content is PlaceName {
  return Object.hasOwn(MEMBERS, content);
}
