/**
 * The walk over a body. The kind of a member follows from its place in the dialect's schema, never
 * from the beginning of its text. A string is checked as text unless its place holds media,
 * identifiers or words of the protocol, and its value is one.
 */

import type { JsonObject, JsonValue, TextPart } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import type { JsonPath } from "./at-path.ts";
import type { BodyText } from "./body-text.ts";
import { plainEscapes, plainPercents } from "../words/escapes.ts";
import { isJoinable, joinedTexts } from "./join.ts";
import { type DataUrl, decodedText, type Family, familyOf, isBase64, isCommonType, readDataUrl, MIN_MEDIA } from "./media.ts";
import { contentOf, leafOf, placeOf } from "./place-of.ts";
import { type Content, type Leaf, MEMBERS, type PlaceName } from "./places.ts";
import { INNER_PARTS, ROLE_PARTS } from "./text-parts.ts";
import { isMachineId, PROTOCOL_NAMES, PROTOCOL_WORDS, WORD_NAMES } from "../vocabulary.ts";

/** The place of a value. */
interface Spot {
  readonly path: JsonPath;
  readonly part: TextPart;
  /** The declared type of this object's encoded content: a media type, or a format. */
  readonly type?: string | undefined;
  /** The object is a document: its formats are those of files. */
  readonly isDocument?: boolean;
  /** The object may hold any file, and must name its type. */
  readonly isFile?: boolean;
}

/** Maximum nesting: no dialect's body is deeper. */
const MAX_DEPTH = 100;

export class Walk {
  readonly texts: BodyText[] = [];
  readonly opaque: string[] = [];

  /** A member of an object at a place; without a place, of an object that no dialect names. */
  member(value: JsonValue, name: string, place: PlaceName | undefined, spot: Spot, owner?: JsonObject): void {
    this.#value(value, name, place === undefined ? undefined : contentOf(name, place, owner), spot);
  }

  /** The names of an object's members that no dialect has there: the upstream's model may read them too. */
  names(value: JsonObject, place: PlaceName | undefined, path: JsonPath, part: TextPart): void {
    const members = place === undefined ? undefined : MEMBERS[place];
    let text = "";
    for (const name in value) {
      if (members?.[name] === undefined && !PROTOCOL_NAMES.has(name)) text += text === "" ? name : `\n${name}`;
    }
    if (text !== "") this.texts.push({ path, part, text, isFixed: true });
  }

  #value(value: JsonValue, key: string, content: Content | undefined, spot: Spot): void {
    if (spot.path.length > MAX_DEPTH) this.opaque.push(String(spot.path[0]));
    else if (typeof value === "string") this.#string(value, key, leafOf(content), spot);
    else if (typeof value === "number") this.#number(value, content, spot);
    else if (Array.isArray(value)) this.#list(value as readonly JsonValue[], key, content, spot);
    else if (isObject(value)) this.#object(value, placeOf(content), spot);
  }

  #object(value: JsonObject, place: PlaceName | undefined, outer: Spot): void {
    const part = partOf(value, place, outer.part);
    const { path } = outer;
    // The type of a source stands in the object around it.
    const around = place === "source" ? outer : undefined;
    const isDocument = around?.isDocument === true || place === "document" || (place === "block" && value.type === "document");
    const type = typeOf(value) ?? around?.type;
    const isFile = place === "source" || place === "inline";
    this.names(value, place, path, part);
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined || member === null) continue;
      // The log probabilities of a reply are removed when its text is edited.
      if (key === "logprobs" && outer.part === "content" && place !== undefined) continue;
      let inner = part;
      if (part !== "tools" && part !== "arguments") inner = INNER_PARTS[key] ?? part;
      const content = place === undefined ? undefined : contentOf(key, place, value);
      if (content === "arguments" && part !== "tools") inner = "arguments";
      this.#value(member, key, content, { path: [...path, key], part: inner, type, isDocument, isFile });
    }
  }

  #string(value: string, key: string, leaf: Leaf | undefined, spot: Spot): void {
    if (value === "") return;
    switch (leaf) {
      case "text":
        this.#add(value, spot);
        return;
      case "arguments":
        // A string of arguments is JSON: its escapes are decoded.
        this.#add(key === "input" ? value : plainEscapes(value), spot);
        return;
      case "word":
        if (!isWord(value)) this.#add(value, spot, PROTOCOL.test(value) ? BARE : undefined);
        return;
      case "id":
        this.#id(value, key, spot);
        return;
      case "url":
      case "file":
        this.#address(value, leaf, spot);
        return;
      case "base64":
        if (readDataUrl(value) === undefined) this.#encoded(value, familyIn(spot), "", spot);
        else this.#address(value, "url", spot);
        return;
      case "sealed":
        if (!isBase64(value)) this.#add(value, spot);
        else if (value.length < MIN_MEDIA) this.#add(value, spot, BARE_AND_FIXED);
        return;
      default:
        this.#unnamed(value, key, spot);
    }
  }

  /** A string in a place that no dialect names. */
  #unnamed(value: string, key: string, spot: Spot): void {
    const { part } = spot;
    // In the arguments of a call and in a schema, the client chooses the names.
    if (part !== "arguments" && part !== "tools" && WORD_NAMES.has(key) && isWord(value)) return;
    const url = readDataUrl(value);
    if (url === undefined || !isDecodable(value, url)) {
      this.#add(key === "arguments" || key === "partial_json" ? plainEscapes(value) : value, spot);
      return;
    }
    this.#add(value, spot, FIXED);
    this.#dataUrl(value, url, spot, false);
  }

  #id(value: string, key: string, spot: Spot): void {
    if (isMachineId(value)) return;
    const isPlain = PROTOCOL.test(value);
    // The model is looked up: it is not a text, and an unknown one is refused.
    if (key === "model" && spot.path.length === 1 && isPlain) return;
    this.#add(value, spot, isPlain ? BARE_AND_FIXED : undefined);
  }

  /** An address, or a value in its place. */
  #address(value: string, leaf: "url" | "file", spot: Spot): void {
    const url = readDataUrl(value);
    if (url !== undefined) this.#dataUrl(value, url, spot, true);
    else if (leaf === "file" && isBase64(value) && value.length >= MIN_MEDIA) {
      const { isText } = decodedText(value);
      this.#encoded(value, isText && !value.startsWith("JVBER") ? "text" : "other", "", spot);
    } else this.#add(value, spot);
  }

  /** `isMedia`: the place holds media, where pictures and sounds pass. */
  #dataUrl(value: string, url: DataUrl, spot: Spot, isMedia: boolean): void {
    const { prefix, family, isBase64: isEncoded, hasOtherCharset, isCommon } = url;
    const rest = value.slice(prefix.length);
    if (!isCommon) this.#add(prefix, spot, BARE_AND_FIXED);
    if (family === "other" || hasOtherCharset) this.#unreadable(spot);
    if (isEncoded) {
      if (isMedia || family !== "media") this.#encoded(rest, family, prefix, spot);
      return;
    }
    const plain = plainPercents(rest);
    if (plain !== rest) this.#add(rest, spot, FIXED);
    const write = (text: string): string => prefix + encodeURIComponent(text);
    if (plain !== "") this.texts.push({ path: spot.path, part: "documents", text: plain, write });
  }

  /** Base64 of a family: checked as text where it could be words, and decoded where it encodes a text. */
  #encoded(base64: string, family: Family, prefix: string, spot: Spot): void {
    const isPure = isBase64(base64);
    if (!isPure) this.#add(base64, spot, FIXED);
    else if (family === "text" || base64.length < MIN_MEDIA) this.#add(base64, spot, BARE_AND_FIXED);
    if (family === "media") return;
    if (family === "other") {
      if (prefix === "") this.#unreadable(spot);
      return;
    }
    const { text, isText } = decodedText(base64);
    // Parsers differ in their reading of invalid base64.
    if (!isText || !isPure) this.#unreadable(spot);
    const write = (edited: string): string => prefix + Buffer.from(edited, "utf8").toString("base64");
    if (text !== "") this.texts.push({ path: spot.path, part: "documents", text, write });
  }

  #unreadable({ path }: Spot): void {
    const place = pathText(path);
    if (!this.opaque.includes(place)) this.opaque.push(place);
  }

  /** A long number from a client or a model may be a card number. */
  #number(value: number, content: Content | undefined, { path, part }: Spot): void {
    if (Math.abs(value) < MIN_NUMBER) return;
    if (NUMBERED.has(part) || (content === undefined && part !== "parameters" && part !== "tools" && part !== "content"))
      this.texts.push({ path, part, text: String(value), isFixed: true, isBare: true });
  }

  #add(text: string, { path, part }: Spot, how?: Partial<BodyText>): void {
    if (text !== "") this.texts.push({ path, part, text, ...how });
  }

  /** A model reads consecutive blocks of text as one text. Some upstreams accept plain strings as blocks. */
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
      if (!isString && (!isObject(item) || typeof item.text !== "string")) {
        flush();
        continue;
      }
      const depth = isString ? path.length : path.length + 1;
      for (let at = before; at < this.texts.length; at++) {
        const text = this.texts[at]!;
        if (text.path.length === depth && (isString || text.path.at(-1) === "text") && isJoinable(text)) run.push(text);
      }
    }
    flush();
  }
}

/** Members whose lists are the blocks of one text. */
const BLOCK_LISTS: ReadonlySet<string> = new Set(["content", "parts", "system", "instructions", "text", "message"]);

const FIXED = { isFixed: true } as const;
const BARE = { isBare: true } as const;
const BARE_AND_FIXED = { isFixed: true, isBare: true } as const;

/** The form of an identifier or a word of the protocol. */
const PROTOCOL = /^[\w.:/+=-]*$/;

/** Parts in which a number may be sensitive. */
const NUMBERED: ReadonlySet<TextPart> = new Set<TextPart>(["arguments", "tool", "documents"]);
const MIN_NUMBER = 1_000_000;

/** Whether decoding changes the text of a data URL. */
function isDecodable(value: string, { prefix, isBase64: isEncoded }: DataUrl): boolean {
  const rest = value.slice(prefix.length);
  return isEncoded ? isBase64(rest) : plainPercents(rest) !== rest;
}

function isWord(value: string): boolean {
  return PROTOCOL_WORDS.has(value) || isCommonType(value);
}

/** The author of the texts in an object's members. */
function partOf(value: JsonObject, place: PlaceName | undefined, outer: TextPart): TextPart {
  if (place !== "message" && place !== "block") return outer;
  if (typeof value.role === "string") {
    if (place === "block" || outer === "content") return outer;
    return ROLE_PARTS[value.role] ?? "user";
  }
  return value.type === "tool_result" || value.type === "function_call_output" || value.type === "custom_tool_call_output"
    ? "tool"
    : outer;
}

function typeOf({ media_type, mime_type, mimeType, mediaType, format }: JsonObject): string | undefined {
  return [media_type, mime_type, mimeType, mediaType, format].find((type) => typeof type === "string");
}

function familyIn({ type, isDocument, isFile }: Spot): Family {
  if (type === undefined && isFile !== true) return "media";
  const family = familyOf(type);
  return family === "media" && isDocument === true ? "other" : family;
}

function pathText(path: JsonPath): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .slice(1);
}
