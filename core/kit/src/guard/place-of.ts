/** What stands in a member, by its name, its place, and the object that it belongs to. */

import type { JsonObject } from "@sluice/spec";
import { type Content, type Leaf, MEMBERS, type PlaceName, STRING_AT } from "./places.ts";

/** Content that is encoded, and the places that hold it. A message does not have them; its blocks do. */
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

/** What a member is at a place; `undefined`: no dialect has it there. */
export function contentOf(name: string, place: PlaceName, owner: JsonObject | undefined): Content | undefined {
  const content = MEMBERS[place][name];
  if (content === undefined || owner === undefined || !ENCODED.has(content)) return content;
  if (typeof owner.role === "string") return undefined;
  if (content === "data") return owner.type === "redacted_thinking" ? "sealed" : undefined;
  if (content === "result") return owner.type === "image_generation_call" ? "base64" : "text";
  // Of a source of text, `data` is the text.
  if (content === "base64" && place === "source" && name === "data") return owner.type === "base64" ? content : "text";
  return content;
}

/** What a string is there, or each string of a list; `undefined`: a text that no dialect names. */
export function leafOf(content: Content | undefined): Leaf | undefined {
  if (content === undefined) return undefined;
  if (isPlace(content)) return STRING_AT[content] ?? "text";
  return content === "open" ? undefined : content;
}

/** The place whose members an object has there; `undefined`: no dialect names them. */
export function placeOf(content: Content | undefined): PlaceName | undefined {
  return content !== undefined && isPlace(content) ? content : undefined;
}

/** Whether content has members with names of the dialect. */
export function isPlace(content: Content): content is PlaceName {
  return Object.hasOwn(MEMBERS, content);
}
