/**
 * Encoded content in the members that a dialect has for it: pictures and sounds, texts, and
 * unreadable content.
 */

import { MEDIA_FORMATS, TEXT_FORMATS } from "./text-parts.ts";

/** The kinds of content, for guardrails of texts. */
export type Family = "media" | "text" | "other";

/**
 * Encoded content shorter than this is also checked as text: a word may look like base64, and a
 * picture is longer.
 */
export const MIN_MEDIA = 128;

const MEDIA_TYPE = /^(?:image|audio|video)\/[\w.+-]+$/;
/** Types that carry no text of the client. Other types are checked together with their content. */
const COMMON_TYPE =
  /^(?:image\/(?:png|jpe?g|gif|webp|heic|heif|bmp|tiff|avif|svg\+xml)|audio\/(?:mpeg|mp3|mp4|wav|x-wav|ogg|opus|flac|aac|webm|pcm|l16)|video\/(?:mp4|webm|mpeg|quicktime|x-matroska|x-flv|3gpp)|text\/(?:plain|html|csv|markdown|xml)|application\/(?:json|xml|yaml|pdf|octet-stream))$/;
const TEXTUAL = /^(?:|text\/.*|(?:application|image)\/(?:[\w.-]+\+)?(?:json|xml|yaml))$/;

/** Whether a media type is one of the common ones. */
export function isCommonType(type: string): boolean {
  return COMMON_TYPE.test(type.toLowerCase());
}

/** The family of a media type, or of a format such as `png` or `txt`. */
export function familyOf(type: string | undefined): Family {
  if (type === undefined) return "other";
  const name = type.trim().toLowerCase();
  if (TEXTUAL.test(name) || TEXT_FORMATS.has(name)) return "text";
  return MEDIA_TYPE.test(name) || MEDIA_FORMATS.has(name) || name === "pcm" || name === "pcm16"
    ? "media"
    : "other";
}

/**
 * The parts of a data URL (RFC 2397; case and blanks as URL parsers accept them,
 * fetch.spec.whatwg.org).
 */
export interface DataUrl {
  /** The part up to and including the comma. */
  readonly prefix: string;
  readonly family: Family;
  readonly isBase64: boolean;
  readonly hasOtherCharset: boolean;
  /** Whether the prefix is exactly a common type and `;base64`. */
  readonly isCommon: boolean;
}

const DATA_URL = /^\s*data:([^;,]*)((?:;[^,;]*)*),/i;
const OTHER_CHARSET = /;\s*charset\s*=\s*"?(?!utf-?8\b|us-ascii\b)/i;

/** Splits a data URL; `undefined` for any other text. */
export function readDataUrl(text: string): DataUrl | undefined {
  const [prefix, named, parameters] = DATA_URL.exec(text) ?? [];
  if (prefix === undefined || named === undefined || parameters === undefined) return undefined;
  const type = named.trim().toLowerCase();
  return {
    prefix,
    family: familyOf(type),
    isBase64: /;\s*base64\s*$/i.test(parameters),
    hasOtherCharset: OTHER_CHARSET.test(parameters),
    isCommon:
      (type === "" || COMMON_TYPE.test(type)) &&
      /^(?:;charset=utf-?8)?(?:;base64)?$/i.test(parameters),
  };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const BASE64_URL = /^[A-Za-z0-9_-]*={0,2}$/;
const LINE = /\r?\n/;
/** Lines of base64 have one length (RFC 2045 6.8 has 76 characters); lines of prose do not. */
const MIN_LINE = 60;

/** Whether a text is only base64, in either alphabet, in one line or in lines of one length. */
export function isBase64(text: string): boolean {
  if (!LINE.test(text)) return BASE64.test(text) || BASE64_URL.test(text);
  const lines = text.split(LINE);
  if (lines.at(-1) === "") lines.pop();
  const { length } = lines[0] ?? "";
  const isEven = lines.every((line, index) =>
    index === lines.length - 1 ? line.length <= length : line.length === length,
  );
  return isEven && length >= MIN_LINE && isBase64(lines.join(""));
}

/** The text that base64 encodes, and whether it is one: UTF-8 without zero bytes. */
export function decodedText(base64: string): { readonly text: string; readonly isText: boolean } {
  const text = Buffer.from(base64, "base64").toString("utf8");
  // In UTF-16 and UTF-32 every other byte of a Latin letter is 0; a byte order mark may precede.
  return { text, isText: !text.includes("\0") && !text.startsWith("\ufffd\ufffd") };
}
