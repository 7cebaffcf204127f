/**
 * A frame of the outbox log: one line with a checksum. A cut or changed line is recognized, and the
 * next line is read.
 */

import { crc32 } from "node:zlib";
import type { SpendRow } from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import { rowOfText } from "./row-text.ts";

/** Hexadecimal digits of the CRC-32 that a line begins with. */
const CRC_DIGITS = 8;
const LINE_FEED = 10;
const OPENING_BRACKET = 91;
const COMMA = 44;
const ZERO_DIGIT = 48;

/** Short frames are encoded here. */
const SHARED_BYTES = 65_536;
const MAX_BYTES_PER_CHARACTER = 3;
const shared = Buffer.allocUnsafeSlow(SHARED_BYTES);

/** The content of a frame. */
export interface Frame {
  /** The number of its batch; 0 for a frame without rows. */
  readonly sequence: number;
  /** Notes of calls, as `noteTexts` writes them. */
  readonly notes: readonly (readonly unknown[])[];
  readonly rows: readonly SpendRow[];
}

/**
 * The bytes of a frame. `notes` and `rows` are members of JSON arrays, separated by commas. The
 * bytes are valid until the next call.
 */
export function encodeFrame(sequence: number, notes: string, rows: string): Buffer {
  return encodeLine(`[${sequence},[${notes}],[${rows}]]`);
}

/** The bytes of a line with this JSON text. They are valid until the next call. */
export function encodeLine(text: string): Buffer {
  const isShort = text.length * MAX_BYTES_PER_CHARACTER + CRC_DIGITS + 1 <= SHARED_BYTES;
  const bytes = isShort ? shared : Buffer.allocUnsafe(Buffer.byteLength(text) + CRC_DIGITS + 1);
  const end = CRC_DIGITS + bytes.write(text, CRC_DIGITS);
  bytes.write(hexOf(crc32(bytes.subarray(CRC_DIGITS, end))), 0, "latin1");
  bytes[end] = LINE_FEED;
  return bytes.subarray(0, end + 1);
}

/** The JSON text of a line without its line feed; `undefined` when its checksum is another one. */
export function textOfLine(line: Buffer): Buffer | undefined {
  if (line.length <= CRC_DIGITS) return undefined;
  const text = line.subarray(CRC_DIGITS);
  return line.toString("latin1", 0, CRC_DIGITS) === hexOf(crc32(text)) ? text : undefined;
}

/** The number of a frame's batch, read without parsing it. */
export function sequenceOf(text: Buffer): number {
  let sequence = 0;
  if (text[0] !== OPENING_BRACKET) return sequence;
  for (let index = 1; text[index] !== COMMA && index < text.length; index += 1)
    sequence = sequence * 10 + text[index]! - ZERO_DIGIT;
  return sequence;
}

/** The content of a frame by its text. */
export function decodeFrame(text: Buffer): Frame {
  const [sequence, notes, rows] = parseJson(text.toString()) as [
    number,
    readonly (readonly unknown[])[],
    readonly unknown[],
  ];
  return { sequence, notes, rows: rows.map(rowOfText) };
}

function hexOf(sum: number): string {
  return sum.toString(16).padStart(CRC_DIGITS, "0");
}
