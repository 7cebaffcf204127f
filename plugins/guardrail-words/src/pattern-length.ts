/**
 * How long a match of a pattern can be: without a bound on that, no window over a stream can be
 * exact.
 */

/** Classes of one ASCII character. */
const SHORT = new Set("dws".split(""));
/** Expressions that match no character: edges. */
const EDGES = new Set("bBAzZ".split(""));
/** A character of a class may be a surrogate pair. */
const WIDE = 2;

/**
 * The longest match of a pattern in RE2's syntax, in UTF-16 code units. `Infinity` where it has no
 * bound, and where this reader does not understand it.
 */
export function longestMatch(pattern: string): number {
  const reader = { pattern, at: 0 };
  const length = alternatives(reader);
  return reader.at === pattern.length ? length : Infinity;
}

interface Reader {
  readonly pattern: string;
  at: number;
}

function alternatives(reader: Reader): number {
  let longest = sequence(reader);
  while (reader.pattern.charAt(reader.at) === "|") {
    reader.at++;
    longest = Math.max(longest, sequence(reader));
  }
  return longest;
}

function sequence(reader: Reader): number {
  let length = 0;
  while (reader.at < reader.pattern.length && !"|)".includes(reader.pattern.charAt(reader.at))) {
    const one = atom(reader);
    const times = repetition(reader);
    // Nothing, however often, is nothing; that an edge is repeated is no reason to give up.
    length += one === 0 || times === 0 ? 0 : one * times;
  }
  return length;
}

function atom(reader: Reader): number {
  const character = reader.pattern.charAt(reader.at++);
  switch (character) {
    case "(":
      return group(reader);
    case "[":
      return bracket(reader);
    case "\\":
      return escape(reader);
    case "^":
    case "$":
      return 0;
    case ".":
      return WIDE;
    default:
      return 1;
  }
}

/** How often the last atom may stand there. */
function repetition(reader: Reader): number {
  let times = 1;
  for (;;) {
    const rest = reader.pattern.slice(reader.at, reader.at + 16);
    const [counted, from, comma, to] = /^\{(\d+)(,?)(\d*)\}/.exec(rest) ?? [];
    if (counted !== undefined) {
      times *= comma === "" ? Number(from) : to === "" ? Infinity : Number(to);
      reader.at += counted.length;
    } else if (/^[*+]/.test(rest)) {
      times = Infinity;
      reader.at++;
    } else if (rest.startsWith("?")) {
      reader.at++;
    } else {
      return times;
    }
  }
}

function group(reader: Reader): number {
  const [begin] =
    /^\?(?:P?<[A-Za-z]\w*>|[imsU-]*:)/.exec(reader.pattern.slice(reader.at, reader.at + 64)) ?? [];
  if (begin === undefined && reader.pattern.charAt(reader.at) === "?") {
    const [flags] = /^\?[imsU-]+\)/.exec(reader.pattern.slice(reader.at, reader.at + 16)) ?? [];
    reader.at += flags?.length ?? 0;
    return flags === undefined ? Infinity : 0;
  }
  reader.at += begin?.length ?? 0;
  const length = alternatives(reader);
  if (reader.pattern.charAt(reader.at) !== ")") return Infinity;
  reader.at++;
  return length;
}

function bracket(reader: Reader): number {
  const [rest] =
    /^\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]/su.exec(reader.pattern.slice(reader.at)) ?? [];
  if (rest === undefined) return Infinity;
  reader.at += rest.length;
  return WIDE;
}

function escape(reader: Reader): number {
  const kind = reader.pattern.charAt(reader.at++);
  if (EDGES.has(kind)) return 0;
  if (SHORT.has(kind)) return 1;
  const rest = reader.pattern.slice(reader.at);
  if (kind === "p" || kind === "P")
    return skip(reader, /^(?:\{[^}]{1,40}\}|[A-Z])/.exec(rest)?.[0], WIDE);
  if (kind === "x")
    return skip(reader, /^(?:\{[0-9A-Fa-f]{1,6}\}|[0-9A-Fa-f]{2})/.exec(rest)?.[0], WIDE);
  // \Q…\E and what else there may be: no guess.
  if (/[A-Z0-9]/.test(kind) && !/[DWS]/.test(kind)) return Infinity;
  return WIDE;
}

function skip(reader: Reader, text: string | undefined, length: number): number {
  if (text === undefined) return Infinity;
  reader.at += text.length;
  return length;
}
