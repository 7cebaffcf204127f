/**
 * Numbers as their texts have them. `JSON.parse` reads a number as a double: it rounds an integer
 * of 64 bits. See core/decisions/2026-11-29-exact-numbers.md.
 */

import type { JsonDocument, JsonObject, JsonValue } from "@sluice/contract";
import { checkInput, checkReread } from "../bounds/call-arguments.ts";
import type { ShapeLimits } from "../members.ts";
import { isObject } from "../narrow.ts";
import { decodePages, pagedText } from "../paged-text.ts";
import { parseJson } from "../parse.ts";
import { textOf } from "../prepared.ts";
import { parseInSlices } from "../sliced/parse.ts";
import * as Stages from "../../stages.ts";
import { parseExactly, readExactly, UNSURE } from "./marked.ts";
import { isRawNumber } from "./raw.ts";

/**
 * Parses JSON as `parseJson` does. A number that `JSON.stringify` would write with another value is
 * a raw number, which it writes as the text has it. The value is for writing: code that reads it
 * must expect objects in place of numbers.
 */
export function parseExact(text: string): unknown {
  const value = parseJson(text) as JsonValue;
  // A walk over the values takes a sixth of the time of a search in the text.
  return mayDiffer(value) ? (readExactly(text) ?? value) : value;
}

/** A text of so many characters is read in stages. */
const LARGE_CHARACTERS = 262_144;
/** Characters that are tested in one call, and the most that a match has. */
const TEST_CHARACTERS = 16_384;
const OVERLAP_CHARACTERS = 24;
const UNBOUNDED: ShapeLimits = { maxDepth: Infinity, maxNodes: Infinity };

/**
 * The values of one text with exact numbers. The text is parsed again on first need: where a value
 * has a number that may be another in the text.
 */
export class ExactValues {
  readonly #document: Pick<JsonDocument, "value" | "bytes">;
  #exact: ReadonlyMap<unknown, JsonValue> | undefined;

  /** `value` is what `parseJson` reads in the bytes. */
  constructor(document: Pick<JsonDocument, "value" | "bytes">) {
    this.#document = document;
  }

  /**
   * An object or a list of the value as `parseExact` returns it; itself where nothing differs.
   * Other values stay.
   */
  of(part: JsonValue): JsonValue {
    if (!mayDiffer(part)) return part;
    this.#exact ??= this.#parse();
    return this.#exact.get(part) ?? part;
  }

  /**
   * The text of a reply's part that is the arguments of a call. Throws `upstream_invalid_response`
   * for one that holds too much.
   */
  written(part: JsonValue): string {
    checkInput(part);
    return JSON.stringify(this.of(part));
  }

  /**
   * Reads the text of a large document in stages, where `of` will need it for a part. That of any
   * other is read by `of`.
   */
  *prepare(part: JsonValue | undefined): Stages.Of<void> {
    if (this.#exact !== undefined || !mayDiffer(part)) return;
    const { value, bytes } = this.#document;
    if (bytes.length >= LARGE_CHARACTERS) this.#exact = yield* pairsInStages(value, bytes);
  }

  #parse(): ReadonlyMap<unknown, JsonValue> {
    const { value, bytes } = this.#document;
    const text = typeof bytes === "string" ? bytes : textOf(bytes);
    checkReread(text);
    const exact = readExactly(text);
    return exact === undefined ? new Map() : Stages.atOnce(pairs(value, exact as JsonValue));
  }
}

/** The same as `pairs` of a value and its text. */
function* pairsInStages(
  value: JsonObject,
  bytes: Uint8Array | string,
): Stages.Of<ReadonlyMap<unknown, JsonValue>> {
  const text =
    typeof bytes === "string"
      ? pagedText(bytes)
      : ((yield* decodePages(bytes)) ?? pagedText(textOf(bytes)));
  yield;
  const clock = new Stages.Clock();
  let isUnsure = false;
  for (let from = 0; from < text.length && !isUnsure; from += TEST_CHARACTERS) {
    isUnsure = UNSURE.test(text.slice(from, from + TEST_CHARACTERS + OVERLAP_CHARACTERS));
    if (clock.isOver()) yield;
  }
  if (!isUnsure) return new Map();
  const { value: exact } = yield* parseInSlices(text, UNBOUNDED, parseExactly);
  return yield* pairs(value, exact as JsonValue);
}

/**
 * Integers below it are taken as they are. What a text may have behind their point is less than
 * half of the distance between two doubles there: 2 ** -10.
 */
const SURE_BELOW = 2 ** 44;

/** Whether a value has a number that may be written otherwise in its text. */
function mayDiffer(value: JsonValue | undefined): boolean {
  if (typeof value === "number") return !isSure(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((item: JsonValue) => mayDiffer(item));
  const object = value as JsonObject;
  return Object.keys(object).some((name) => mayDiffer(object[name]));
}

/** Zero may be minus zero, or a number near zero. */
function isSure(value: number): boolean {
  return value !== 0 && Number.isInteger(value) && Math.abs(value) < SURE_BELOW;
}

/** The objects and lists of one value, and those in the same places of another of the same text. */
function* pairs(value: JsonValue, other: JsonValue): Stages.Of<ReadonlyMap<unknown, JsonValue>> {
  const clock = new Stages.Clock();
  const found = new Map<unknown, JsonValue>();
  const left: [JsonValue | undefined, JsonValue | undefined][] = [[value, other]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [own, same] = next;
    if (clock.isOver()) yield;
    if (Array.isArray(own) && Array.isArray(same)) {
      found.set(own, same);
      for (const [at, item] of own.entries()) left.push([item as JsonValue, same[at] as JsonValue]);
    } else if (isObject(own) && isObject(same) && !isRawNumber(same)) {
      found.set(own, same);
      for (const name of Object.keys(own)) left.push([own[name], same[name]]);
    }
  }
  return found;
}
