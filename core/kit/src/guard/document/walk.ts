/**
 * The walk over a body. The kind of a member follows from its place in the dialect's schema, never
 * from the beginning of its text.
 */

import type { JsonObject, JsonValue, TextPart } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { isRawNumber } from "../../json/numbers/raw.ts";
import type { JsonPath } from "./at-path.ts";
import type { BodyText } from "./body-text.ts";
import { isJoinable, joinedTexts } from "./join.ts";
import { LeafTexts, type Spot, type TooMany } from "./leaf-texts.ts";
import { contentOf, leafOf, placeOf } from "./place-of.ts";
import { type Content, MEMBERS, type PlaceName } from "./places.ts";
import { isTokens } from "./token-texts.ts";
import { INNER_PARTS, ROLE_PARTS } from "./text-parts.ts";
import { PROTOCOL_NAMES } from "../vocabulary.ts";

/** Maximum nesting: no dialect's body is deeper. */
const MAX_DEPTH = 100;

/** The walk over the objects and lists of one body. */
export class Walk {
  readonly #leaves: LeafTexts;

  constructor(tooMany?: TooMany) {
    this.#leaves = new LeafTexts(tooMany);
  }

  /** The texts in the order of the walk. */
  get texts(): BodyText[] {
    return this.#leaves.texts;
  }

  /** The places that cannot be read, in the order of the walk. */
  get opaque(): Set<string> {
    return this.#leaves.opaque;
  }

  /** A member of an object at a place; without a place, of an object that no dialect names. */
  member(
    value: JsonValue,
    name: string,
    place: PlaceName | undefined,
    spot: Spot,
    owner?: JsonObject,
  ): void {
    this.#value(value, name, place === undefined ? undefined : contentOf(name, place, owner), spot);
  }

  /**
   * Adds the names of members that no dialect has at this place. The upstream's model may read them
   * too.
   */
  names(value: JsonObject, place: PlaceName | undefined, path: JsonPath, part: TextPart): void {
    const members = place === undefined ? undefined : MEMBERS[place];
    let text = "";
    for (const name in value) {
      if (members?.[name] === undefined && !PROTOCOL_NAMES.has(name))
        text += text === "" ? name : `\n${name}`;
    }
    if (text !== "") this.#leaves.push({ path, part, text, isFixed: true });
  }

  #value(value: JsonValue, key: string, content: Content | undefined, spot: Spot): void {
    if (spot.path.length > MAX_DEPTH) this.opaque.add(String(spot.path[0]));
    else if (typeof value === "string") this.#leaves.string(value, key, leafOf(content), spot);
    else if (typeof value === "number") this.#leaves.number(value, content, spot);
    else if (isRawNumber(value)) this.#leaves.number(value.rawJSON, content, spot);
    else if (Array.isArray(value)) this.#list(value as readonly JsonValue[], key, content, spot);
    else if (isObject(value)) this.#object(value, placeOf(content), spot);
  }

  #object(value: JsonObject, place: PlaceName | undefined, outer: Spot): void {
    const part = partOf(value, place, outer.part);
    const { path } = outer;
    // The type of a source stands in the object around it.
    const around = place === "source" ? outer : undefined;
    const isDocument =
      around?.isDocument === true ||
      place === "document" ||
      (place === "block" && value.type === "document");
    const type = typeOf(value) ?? around?.type;
    const isFile = place === "source" || place === "inline";
    this.names(value, place, path, part);
    // Any name may stand in the input of a tool.
    const isOfReply = outer.part === "content" && !path.includes("input");
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined || member === null) continue;
      // The log probabilities of a reply are removed when its text is edited.
      if (isOfReply && ((key === "logprobs" && place !== undefined) || isTokens(key, member)))
        continue;
      let inner = part;
      if (part !== "tools" && part !== "arguments") inner = INNER_PARTS[key] ?? part;
      const content = place === undefined ? undefined : contentOf(key, place, value);
      if (content === "arguments" && part !== "tools") inner = "arguments";
      this.#value(member, key, content, {
        path: [...path, key],
        part: inner,
        type,
        isDocument,
        isFile,
      });
    }
  }

  /**
   * A model reads consecutive blocks of text as one text. Some upstreams accept plain strings as
   * blocks.
   */
  #list(items: readonly JsonValue[], key: string, content: Content | undefined, spot: Spot): void {
    let run: BodyText[] = [];
    const flush = (): void => {
      if (run.length > 1) this.texts.push(...joinedTexts(run));
      run = [];
    };
    for (const [index, item] of items.entries()) {
      const path = [...spot.path, index];
      const before = this.texts.length;
      this.#value(item, key, content, { ...spot, path });
      const isString = typeof item === "string" && BLOCK_LISTS.has(key);
      const block = isObject(item) ? unwrapped(item) : undefined;
      if (!isString && typeof block?.text !== "string") {
        flush();
        continue;
      }
      const depth = path.length + (isString ? 0 : block === item ? 1 : 2);
      for (let at = before; at < this.texts.length; at++) {
        const text = this.texts[at]!;
        if (
          text.path.length === depth &&
          (isString || text.path.at(-1) === "text") &&
          isJoinable(text)
        )
          run.push(text);
      }
    }
    flush();
  }
}

/** The block of a wrapper of a face. */
function unwrapped(block: JsonObject): JsonObject {
  const { type, native_block: own } = block;
  return type === "native_block" && isObject(own) ? own : block;
}

/** Members whose lists are the blocks of one text. */
const BLOCK_LISTS: ReadonlySet<string> = new Set([
  "content",
  "parts",
  "system",
  "instructions",
  "text",
  "message",
]);

/** The author of the texts in an object's members. */
function partOf(value: JsonObject, place: PlaceName | undefined, outer: TextPart): TextPart {
  if (place !== "message" && place !== "block") return outer;
  if (typeof value.role === "string") {
    if (place === "block" || outer === "content") return outer;
    return ROLE_PARTS[value.role] ?? "user";
  }
  return value.type === "tool_result" ||
    value.type === "function_call_output" ||
    value.type === "custom_tool_call_output"
    ? "tool"
    : outer;
}

function typeOf({
  media_type,
  mime_type,
  mimeType,
  mediaType,
  format,
}: JsonObject): string | undefined {
  return [media_type, mime_type, mimeType, mediaType, format].find(
    (type) => typeof type === "string",
  );
}
