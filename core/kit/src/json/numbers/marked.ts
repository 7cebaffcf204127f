/**
 * Parses a text with its numbers as they are written: those that a double does not hold have marks
 * in their places during the parse. A reviver of `JSON.parse` takes a microsecond for each value.
 */

import { randomBytes } from "node:crypto";
import { isObject } from "../narrow.ts";
import { parseJson, putMember } from "../parse.ts";
import { QUOTE, stringEnd } from "../scan.ts";
import { rawNumber } from "./raw.ts";

/**
 * A number that a double may not hold: sixteen characters of digits and points, an exponent, or
 * minus zero. Every other number has fifteen digits at most, which a double returns.
 */
export const UNSURE = /(?:^|[:,[\s])(?:-?(?:[\d.]{16}|\d[\d.]*[eE])|-0(?:\.0*)?(?:[,\]}\s]|$))/;

const NUMBER = /-?\d[\d.eE+-]*/g;
/** Between two strings, `:1,` is the shortest text with a number. */
const MIN_CHARACTERS = 3;
/** The prefix of a string that stands for a number. It is random: no text has it. */
const MARK = `#${randomBytes(12).toString("base64url")}`;

/**
 * The value of a text, with raw numbers for those that `JSON.stringify` would write with another
 * value; `undefined` where there is none of them. Throws a `SyntaxError`.
 */
export function readExactly(text: string): unknown {
  const marked = new MarkedText(text);
  if (marked.numbers.length === 0) return undefined;
  return unmarked(parseJson(marked.text), marked.numbers);
}

/** The same, and the value of a text without such numbers. */
export function parseExactly(text: string): unknown {
  const marked = new MarkedText(text);
  const value = parseJson(marked.text);
  return marked.numbers.length === 0 ? value : unmarked(value, marked.numbers);
}

/** A text with marks in the places of numbers. */
class MarkedText {
  text = "";
  readonly numbers: string[] = [];

  constructor(text: string) {
    let copied = 0;
    for (let from = 0; from < text.length;) {
      const found = text.indexOf('"', from);
      const quote = found < 0 ? text.length : found;
      if (quote - from >= MIN_CHARACTERS || quote === text.length) {
        const between = text.slice(from, quote);
        if (UNSURE.test(between)) {
          this.text += text.slice(copied, from) + this.#marked(between);
          copied = quote;
        }
      }
      from = text.charCodeAt(quote) === QUOTE ? stringEnd(text, quote) : text.length;
    }
    this.text = this.numbers.length === 0 ? text : this.text + text.slice(copied);
  }

  #marked(between: string): string {
    return between.replace(NUMBER, (source) => {
      if (isKept(source, Number(source))) return source;
      this.numbers.push(source);
      return `"${MARK}${this.numbers.length - 1}"`;
    });
  }
}

/** A value with numbers in the places of their marks. */
function unmarked(value: unknown, numbers: readonly string[]): unknown {
  const outermost = [value];
  const left: Record<string, unknown>[] = [outermost as unknown as Record<string, unknown>];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const name of Object.keys(next)) {
      const member = next[name];
      if (typeof member === "string") {
        if (member.startsWith(MARK)) putMember(next, name, numberAt(member, numbers));
      } else if (Array.isArray(member) || isObject(member)) {
        left.push(member as unknown as Record<string, unknown>);
      }
    }
  }
  return outermost[0];
}

function numberAt(mark: string, numbers: readonly string[]): unknown {
  return rawNumber(numbers[Number(mark.slice(MARK.length))] ?? "null");
}

/** Whether a number is written with the value that its text has. NaN: the text is no number. */
function isKept(source: string, value: number): boolean {
  if (Number.isNaN(value)) return true;
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  const written = String(value);
  return written === source || decimalOf(written) === decimalOf(source);
}

const PARTS = /^(-?)0*(\d*)(?:\.(\d*))?(?:[eE](.*))?$/;

/** The one spelling of a decimal number: its digits without zeros around them, and an exponent. */
function decimalOf(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = PARTS.exec(text) ?? [];
  const digits = whole + fraction;
  let from = 0;
  let to = digits.length;
  while (digits[from] === "0") from++;
  while (to > from && digits[to - 1] === "0") to--;
  if (from === to) return "0";
  const power = Number(exponent) - fraction.length + digits.length - to;
  return `${sign}${digits.slice(from, to)}e${power}`;
}
