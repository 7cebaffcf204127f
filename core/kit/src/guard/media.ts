/** Encoded content in the members that a dialect has for it: what is a picture or sound, what is a text, and what cannot be read. */

import { MEDIA_FORMATS, TEXT_FORMATS } from "./text-parts.ts";

/** What a type of content means to guardrails of texts. */
export type Family = "media" | "text" | "other";

/** Encoded content that is shorter than this is also judged as it stands: a word may look like base64, a picture is longer. */
export const SHORTEST_MEDIA = 128;

const MEDIA_TYPE = /^(?:image|audio|video)\/[\w.+-]+$/;
/** Types that say nothing of a client's own. Others are judged with what they describe. */
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
  return MEDIA_TYPE.test(name) || MEDIA_FORMATS.has(name) || name === "pcm" || name === "pcm16" ? "media" : "other";
}

/** The parts of a data URL (RFC 2397; any case and blanks as URL parsers take them, fetch.spec.whatwg.org). */
export interface DataUrl {
  /** Everything up to the comma, and the comma. */
  readonly prefix: string;
  readonly family: Family;
  readonly isBase64: boolean;
  readonly hasOtherCharset: boolean;
  /** Whether the prefix is nothing but a common type and `;base64`. */
  readonly isCommon: boolean;
}

const DATA_URL = /^\s*data:([^;,]*)((?:;[^,;]*)*),/i;
const OTHER_CHARSET = /;\s*charset\s*=\s*"?(?!utf-?8\b|us-ascii\b)/i;

/** Takes a data URL apart; `undefined` for any other text. */
export function readDataUrl(text: string): DataUrl | undefined {
  const [prefix, named, parameters] = DATA_URL.exec(text) ?? [];
  if (prefix === undefined || named === undefined || parameters === undefined) return undefined;
  const type = named.trim().toLowerCase();
  return {
    prefix,
    family: familyOf(type),
    isBase64: /;\s*base64\s*$/i.test(parameters),
    hasOtherCharset: OTHER_CHARSET.test(parameters),
    isCommon: (type === "" || COMMON_TYPE.test(type)) && /^(?:;charset=utf-?8)?(?:;base64)?$/i.test(parameters),
  };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const BASE64_URL = /^[A-Za-z0-9_-]*={0,2}$/;
const LINE = /\r?\n/;
/** Lines of base64 are of one length (RFC 2045 6.8 has 76 characters); lines of prose are not. */
const SHORTEST_LINE = 60;

/** Whether a text is base64 in either alphabet and nothing else, in one line or in lines of one length. */
export function isBase64(text: string): boolean {
  if (!LINE.test(text)) return BASE64.test(text) || BASE64_URL.test(text);
  const lines = text.split(LINE);
  if (lines.at(-1) === "") lines.pop();
  const { length } = lines[0] ?? "";
  const isEven = lines.every((line, index) => (index === lines.length - 1 ? line.length <= length : line.length === length));
  return isEven && length >= SHORTEST_LINE && isBase64(lines.join(""));
}

/** The text that base64 holds, and whether it is one: UTF-8 without zero bytes. */
export function decodedText(base64: string): { readonly text: string; readonly isText: boolean } {
  const text = Buffer.from(base64, "base64").toString("utf8");
  // In UTF-16 and UTF-32 every other byte of a Latin letter is 0; a mark at the beginning may say so.
  return { text, isText: !text.includes("\0") && !text.startsWith("\ufffd\ufffd") };
}
