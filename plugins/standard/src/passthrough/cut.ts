/** Members of a native body that only gateways know: cut out of its bytes, while every other byte stays. */

import { readMembers } from "@sluice/kit/internals";

/** The bytes of a JSON object without some top-level members, each with the comma that parts it from another. */
export function cutMembers(bytes: Uint8Array, names: readonly string[]): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString("utf8")
    .replace(/^\ufeff/, "");
  const { members } = readMembers(text);
  const first = members[0];
  if (first === undefined || !members.some(({ key }) => names.includes(key))) return bytes;
  let written = text.slice(0, first.start);
  // What stands behind a kept member, to the next one: its comma among it.
  let separator = "";
  for (const [index, { key, start, end }] of members.entries()) {
    if (names.includes(key)) continue;
    written += separator + text.slice(start, end);
    separator = text.slice(end, members[index + 1]?.start ?? end);
  }
  return Buffer.from(written + text.slice(members.at(-1)?.end), "utf8");
}
