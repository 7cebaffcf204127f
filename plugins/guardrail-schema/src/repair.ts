/**
 * Small repairs of a text that is nearly JSON: each of them named, none of them a guess about what
 * was meant.
 */

import { parseJson } from "@sluice/kit";

/** The permitted repairs. */
export type Repair = "fences" | "surrounding_text" | "trailing_commas";

/** The begin of a fence of Markdown around everything, and its end. */
const FENCE_BEGIN = /^\s*```[\w-]{0,20}[ \t]*\r?\n/;
const FENCE = "```";

/** A text of JSON that these repairs make of a text; `undefined` when they make none. */
export function repaired(text: string, repairs: readonly Repair[]): string | undefined {
  let json = text;
  if (repairs.includes("fences")) json = unfenced(json) ?? json;
  const mayDrop = repairs.includes("trailing_commas");
  if (repairs.includes("surrounding_text")) {
    const start = json.search(/[{[]/);
    if (start < 0) return undefined;
    const value = scan(json, start, mayDrop);
    return value !== undefined && isJson(value.text) ? value.text : undefined;
  }
  if (mayDrop) {
    const start = json.search(/\S/);
    const value = start < 0 ? undefined : scan(json, start, true);
    if (value !== undefined && json.slice(value.end).trim() === "") json = value.text;
  }
  return isJson(json) ? json : undefined;
}

/**
 * The text within a fence; `undefined` without one. No pattern looks for the end: it would read a
 * long run of white space again from each of its places.
 */
function unfenced(text: string): string | undefined {
  const [begin] = FENCE_BEGIN.exec(text) ?? [];
  const whole = text.trimEnd();
  if (begin === undefined || !whole.endsWith(FENCE)) return undefined;
  const from = begin.length;
  let end = whole.length - FENCE.length;
  if (end < from) return undefined;
  while (end > from && (text[end - 1] === " " || text[end - 1] === "\t")) end--;
  if (end > from && text[end - 1] === "\n") end--;
  if (end > from && text[end - 1] === "\r") end--;
  return text.slice(from, end);
}

/** The first object or list from `start` on, to the bracket that closes it. */
function scan(
  text: string,
  start: number,
  mayDrop: boolean,
): { readonly text: string; readonly end: number } | undefined {
  let result = "";
  let from = start;
  let depth = 0;
  /** A comma after which nothing but white space has come. */
  let comma = -1;
  for (let at = start; at < text.length; at++) {
    const sign = text[at]!;
    if (sign === '"') {
      at = endOfString(text, at);
      comma = -1;
    } else if (sign === "{" || sign === "[") {
      depth++;
      comma = -1;
    } else if (sign === "}" || sign === "]") {
      if (mayDrop && comma >= 0) {
        result += text.slice(from, comma);
        from = comma + 1;
      }
      comma = -1;
      if (--depth === 0) return { text: result + text.slice(from, at + 1), end: at + 1 };
    } else if (sign === ",") comma = comma >= 0 ? -1 : at;
    else if (!/\s/.test(sign)) comma = -1;
    if (depth === 0) return undefined;
  }
  return undefined;
}

/** Where a string ends; the text's end when it does not. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}
