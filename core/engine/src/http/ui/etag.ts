/** Entity tags of answers that screens read again and again. */

import { hash } from "node:crypto";

/** The tag of a text. */
export function etagOf(text: string): string {
  return `"${hash("sha256", text, "base64url").slice(0, 22)}"`;
}

/** Whether a header `if-none-match` names a tag. */
export function matchesTag(header: string | undefined, etag: string): boolean {
  return header !== undefined && header.split(",").some((one) => one.trim() === etag);
}
