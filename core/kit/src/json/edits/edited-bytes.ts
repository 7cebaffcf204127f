/**
 * Large JSON bodies with one value replaced: the rest of the body is not copied. See
 * core/decisions/2026-11-28-large-replies.md.
 */

import { Buffer, isUtf8 } from "node:buffer";
import type { JsonDocument, JsonObject } from "@sluice/contract";
import { asBuffer } from "../as-buffer.ts";
import { piecesDocument } from "../bytes-document.ts";
import type { Member } from "../members.ts";
import { markLength, type ReadableText } from "../paged-text.ts";

/** A shorter text is edited as a text: a copy of it costs less than further pieces. */
const MIN_CHARACTERS = 65_536;

/**
 * The document of a body in which the value of `member` is written as `json`, without a byte order
 * mark. `text`: that of the body, without the mark. `value`: that of the edited text. `undefined`
 * for a short body, and for one that is not UTF-8, whose text has other offsets.
 */
export function editedBody(
  body: Uint8Array,
  text: ReadableText,
  { valueStart, end }: Pick<Member, "valueStart" | "end">,
  json: string,
  value: JsonObject,
): JsonDocument | undefined {
  if (text.length < MIN_CHARACTERS || !isUtf8(body)) return undefined;
  const bytes = asBuffer(body);
  const mark = markLength(bytes);
  // As many bytes as characters: the text is ASCII.
  const isAscii = bytes.length - mark === text.length;
  const length = (from: number, to: number): number =>
    isAscii ? to - from : Buffer.byteLength(text.slice(from, to));
  const start = mark + length(0, valueStart);
  const rest = start + length(valueStart, end);
  return piecesDocument(
    [bytes.subarray(mark, start), Buffer.from(json), bytes.subarray(rest)],
    value,
  );
}
