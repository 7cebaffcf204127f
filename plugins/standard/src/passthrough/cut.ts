/** Removes gateway-only members from the bytes of a native body. All other bytes stay. */

import { readMembers } from "@sluice/kit/internals";

/** The bytes of a JSON object without some top-level members and their commas. */
export function cutMembers(bytes: Uint8Array, names: readonly string[]): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString("utf8")
    .replace(/^\ufeff/, "");
  const { members } = readMembers(text);
  const first = members[0];
  if (first === undefined || !members.some(({ key }) => names.includes(key))) return bytes;
  let written = text.slice(0, first.start);
  // The bytes behind a kept member up to the next one, with the comma.
  let separator = "";
  for (const [index, { key, start, end }] of members.entries()) {
    if (names.includes(key)) continue;
    written += separator + text.slice(start, end);
    separator = text.slice(end, members[index + 1]?.start ?? end);
  }
  return Buffer.from(written + text.slice(members.at(-1)?.end), "utf8");
}
