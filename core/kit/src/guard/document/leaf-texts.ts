/**
 * The texts of a body's strings and numbers. A string is checked as text unless its place holds
 * media, identifiers or words of the protocol, and its value is one.
 */

import type { TextPart } from "@sluice/contract";
import type { JsonPath } from "./at-path.ts";
import type { BodyText } from "./body-text.ts";
import { plainEscapes, plainPercents } from "../words/escapes.ts";
import {
  type DataUrl,
  decodedText,
  type Family,
  familyOf,
  isBase64,
  isCommonType,
  readDataUrl,
  MIN_MEDIA,
} from "./media.ts";
import type { Content, Leaf } from "./places.ts";
import { isMachineId, PROTOCOL_WORDS, WORD_NAMES } from "../vocabulary.ts";

/** The place of a value. */
export interface Spot {
  readonly path: JsonPath;
  readonly part: TextPart;
  /** The declared type of this object's encoded content: a media type, or a format. */
  readonly type?: string | undefined;
  /** The object is a document: its formats are those of files. */
  readonly isDocument?: boolean;
  /** The object may hold any file, and must name its type. */
  readonly isFile?: boolean;
}

const FIXED = { isFixed: true } as const;
const BARE = { isBare: true } as const;
const BARE_AND_FIXED = { isFixed: true, isBare: true } as const;

/** The form of an identifier or a word of the protocol. */
const PROTOCOL = /^[\w.:/+=-]*$/;

/** Parts in which a number may be sensitive. */
const NUMBERED: ReadonlySet<TextPart> = new Set<TextPart>(["arguments", "tool", "documents"]);
const MIN_NUMBER = 1_000_000;

/** Maximum texts of a body that guardrails check: all are found in one turn of the event loop. */
const MAX_TEXTS = 25_000;

/** Makes the error of a body with more than so many texts. */
export type TooMany = (most: number) => Error;

/** Collects the texts of one body, and the places that cannot be read. */
export class LeafTexts {
  readonly texts: BodyText[] = [];
  readonly opaque = new Set<string>();
  readonly #tooMany: TooMany | undefined;

  /** `tooMany`: thrown for more than `MAX_TEXTS`. Absent: any number is taken. */
  constructor(tooMany?: TooMany) {
    this.#tooMany = tooMany;
  }

  push(text: BodyText): void {
    if (this.#tooMany !== undefined && this.texts.length >= MAX_TEXTS)
      throw this.#tooMany(MAX_TEXTS);
    this.texts.push(text);
  }

  /**
   * Takes a string. `leaf`: the kind of its place; `undefined` where no dialect names the place.
   */
  string(value: string, key: string, leaf: Leaf | undefined, spot: Spot): void {
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
    if (plain !== "") this.push({ path: spot.path, part: "documents", text: plain, write });
  }

  /**
   * Base64 of a family: checked as text where it could be words, and decoded where it encodes a
   * text.
   */
  #encoded(base64: string, family: Family, prefix: string, spot: Spot): void {
    const isPure = isBase64(base64);
    if (!isPure) this.#add(base64, spot, FIXED);
    else if (family === "text" || base64.length < MIN_MEDIA)
      this.#add(base64, spot, BARE_AND_FIXED);
    if (family === "media") return;
    if (family === "other") {
      if (prefix === "") this.#unreadable(spot);
      return;
    }
    const { text, isText } = decodedText(base64);
    // Parsers differ in their reading of invalid base64.
    if (!isText || !isPure) this.#unreadable(spot);
    const write = (edited: string): string =>
      prefix + Buffer.from(edited, "utf8").toString("base64");
    if (text !== "") this.push({ path: spot.path, part: "documents", text, write });
  }

  #unreadable({ path }: Spot): void {
    this.opaque.add(pathText(path));
  }

  /**
   * A long number from a client or a model may be a card number. It is a text where no double holds
   * it.
   */
  number(value: number | string, content: Content | undefined, { path, part }: Spot): void {
    if (Math.abs(Number(value)) < MIN_NUMBER) return;
    if (
      NUMBERED.has(part) ||
      (content === undefined && part !== "parameters" && part !== "tools" && part !== "content")
    )
      this.push({ path, part, text: String(value), isFixed: true, isBare: true });
  }

  #add(text: string, { path, part }: Spot, how?: Partial<BodyText>): void {
    if (text !== "") this.push({ path, part, text, ...how });
  }
}

/** Whether decoding changes the text of a data URL. */
function isDecodable(value: string, { prefix, isBase64: isEncoded }: DataUrl): boolean {
  const rest = value.slice(prefix.length);
  return isEncoded ? isBase64(rest) : plainPercents(rest) !== rest;
}

function isWord(value: string): boolean {
  return PROTOCOL_WORDS.has(value) || isCommonType(value);
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
