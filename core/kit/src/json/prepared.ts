/**
 * Parses large replies before they are decoded: decoding is then one piece of work instead of three
 * (decode, read, parse).
 */

import { GatewayError, type JsonObject } from "@sluice/contract";
import { asBuffer } from "./as-buffer.ts";
import type { Member, ShapeFault, ShapeLimits } from "./members.ts";
import type * as Stages from "../stages.ts";
import { decodePages, type PagedText } from "./paged-text.ts";
import { parseJson } from "./parse.ts";
import { parseInSlices, type Sliced } from "./sliced/parse.ts";

/** What a large reply may have. An object with more members is slow to make, copy and write. */
const LIMITS = { maxDepth: 128, maxNodes: Infinity, maxNames: 10_000 } satisfies ShapeLimits;
const FAULTS: Readonly<Partial<Record<ShapeFault, string>>> = {
  depth: `is nested deeper than ${LIMITS.maxDepth} levels`,
  names: `has an object with more than ${LIMITS.maxNames} members`,
  run: "has a megabyte of white space or of one number",
};

/** The text and the value of some bytes. A text that is not JSON has no value. */
interface Prepared {
  readonly text: string | PagedText;
  readonly value: unknown;
  /** The members of the outermost object, of a text that was prepared. */
  readonly members?: readonly Member[];
  readonly fault?: ShapeFault | undefined;
}

/** The same of a text that holds an object. */
export interface PreparedObject extends Prepared {
  readonly value: JsonObject;
}

const prepared = new WeakMap<Uint8Array, Prepared>();

/**
 * Decodes and parses bytes in stages. The decoder that parses the same bytes next takes the result.
 */
export function* prepareJson(bytes: Uint8Array): Stages.Of<void> {
  let text;
  let parsed: Sliced;
  try {
    // Bytes that are no UTF-8 have a text all the same, in which marks stand for the others.
    text = (yield* decodePages(bytes)) ?? textOf(bytes);
    yield;
    parsed = yield* parseInSlices(text, LIMITS);
  } catch {
    // The decoder finds the same fault and reports it.
    return;
  }
  const { value, members, fault } = parsed;
  prepared.set(bytes, { text, value, members, fault });
  yield;
}

/** What `prepareJson` made of bytes; `undefined` for other bytes. */
export function preparedJson(bytes: Uint8Array): Prepared | undefined {
  return prepared.get(bytes);
}

/**
 * The text of bytes, without a byte order mark, and its parsed value. Throws a `SyntaxError` for
 * text that is not JSON, and `upstream_invalid_response` for a large one beyond the limits.
 */
export function parseBytes(bytes: Uint8Array): Prepared {
  const known = prepared.get(bytes);
  if (known?.fault !== undefined)
    throw new GatewayError(
      "upstream_invalid_response",
      `The upstream's reply ${FAULTS[known.fault] ?? "has too many values"}.`,
    );
  if (known !== undefined) return known;
  const text = textOf(bytes);
  return { text, value: parseJson(text) };
}

/** The text of bytes, without a byte order mark. */
export function textOf(bytes: Uint8Array): string {
  const raw = asBuffer(bytes).toString("utf8");
  return raw.charCodeAt(0) === 0xfeff ? raw.slice(1) : raw;
}
