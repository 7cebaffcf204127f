/**
 * Media of a request: URLs are passed on, data URLs are decomposed, both within bounds. Nothing is
 * fetched.
 */

import { invalidField } from "../refusal.ts";

/** The place of a medium. `data` is base64 without white space. */
export type MediaSource =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "data"; readonly mimeType: string; readonly data: string }
  | { readonly kind: "file"; readonly id: string }
  | { readonly kind: "text"; readonly text: string };

/** The maximum bytes of one medium: the maximum of a request. */
const MAX_BYTES = 32 * 1024 * 1024;
const DATA_URL = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)((?:;[a-z0-9=_.+-]+)*?);base64,/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const BASE64_URL = /[-_]/;

/**
 * Reads a client's URL: `https:` stays a URL, `data:` becomes base64 bytes. Throws `invalid_field`
 * for every other scheme, for data that is not base64, and for more bytes than the bound.
 */
export function readMediaUrl(url: unknown, path: string): MediaSource {
  if (typeof url !== "string" || url === "") throw invalidField(path, "a URL");
  if (/^https:\/\//i.test(url)) return { kind: "url", url };
  const head = /^data:/i.test(url) ? DATA_URL.exec(url.slice(0, 256)) : null;
  if (head?.[1] === undefined)
    throw invalidField(path, "an https: URL, or a data: URL with a media type and base64");
  return readBase64(url.slice(head[0].length), head[1].toLowerCase(), path);
}

/**
 * Checks base64 of a known media type. Removes white space, and converts the URL alphabet to the
 * standard one.
 */
export function readBase64(
  value: unknown,
  mimeType: string,
  path: string,
): MediaSource & { readonly kind: "data" } {
  if (typeof value !== "string" || value === "") throw invalidField(path, "base64");
  if ((value.length / 4) * 3 > MAX_BYTES) throw invalidField(path, `at most ${MAX_BYTES} bytes`);
  let data = /\s/.test(value) ? value.replace(/\s+/g, "") : value;
  if (BASE64_URL.test(data)) data = data.replaceAll("-", "+").replaceAll("_", "/");
  if (!BASE64.test(data) || (data.length - paddingOf(data)) % 4 === 1)
    throw invalidField(path, "base64");
  const missing = data.length % 4;
  return { kind: "data", mimeType, data: missing === 0 ? data : data + "=".repeat(4 - missing) };
}

/** The number of bytes that base64 encodes. */
export function base64Bytes(data: string): number {
  return (data.length / 4) * 3 - paddingOf(data);
}

/** The number of `=` at the end of base64: two at most. */
function paddingOf(data: string): number {
  return data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
}
