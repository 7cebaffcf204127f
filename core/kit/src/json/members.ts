/**
 * Walks the top-level members of a JSON object's text without parsing the values. It assumes that
 * `JSON.parse` accepts the text, or will check it later. On other text it ends early. It always
 * takes linear time.
 */

import { QUOTE, skipSpace, stringEnd } from "./scan.ts";

const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const COMMA = 44;

/** Limits on the shape of a text, checked before any recursion into it. */
export interface ShapeLimits {
  readonly maxDepth: number;
  /** Values, counted by their separators. */
  readonly maxNodes: number;
  /** Members of the outermost object; absent: no limit. Only `parseInSlices` checks it. */
  readonly maxMembers?: number;
  /** Arrays and objects; absent: no limit. Only `parseInSlices` checks it. */
  readonly maxContainers?: number;
  /** Members of any one object; absent: no limit. Only `parseInSlices` checks it. */
  readonly maxNames?: number;
}

/** The exceeded limit. */
export type ShapeFault = "depth" | "nodes" | "members" | "names" | "containers" | "run";

/** One top-level member: offsets into the text. */
export interface Member {
  readonly key: string;
  /** Start of the key's quote. */
  readonly start: number;
  readonly valueStart: number;
  /** End of the value, exclusive. */
  readonly end: number;
}

/** The members of a text, and the fault of its shape. */
export interface Members {
  readonly members: readonly Member[];
  /** The values of the text, counted by their separators; see `nodesOf`. */
  readonly nodes: number;
  readonly fault: ShapeFault | undefined;
}

const UNBOUNDED: ShapeLimits = { maxDepth: Infinity, maxNodes: Infinity };

/** All top-level members of an object's text, in order; duplicates included. */
export function readMembers(text: string, limits: ShapeLimits = UNBOUNDED): Members {
  const members: Member[] = [];
  const cursor = new MemberCursor(text, limits);
  for (let member = cursor.next(); member !== undefined; member = cursor.next()) {
    members.push(member);
  }
  return { members, nodes: cursor.nodes, fault: cursor.fault };
}

/** The first top-level member with a name. Reads only up to it. */
export function findMember(text: string, key: string): Member | undefined {
  return findPath(text, [key]);
}

/**
 * The member at a path of names: at each object of the path, the first one with its name. Reads
 * only up to it; `undefined` where a name is missing.
 */
export function findPath(text: string, path: readonly string[]): Member | undefined {
  const last = path.at(-1);
  if (last === undefined) return undefined;
  let cursor = new MemberCursor(text, UNBOUNDED);
  for (let depth = 0; depth < path.length - 1; depth++) {
    const start = cursor.enter(path[depth]!);
    if (start === undefined) return undefined;
    cursor = new MemberCursor(text, UNBOUNDED, start);
  }
  return cursor.find(last);
}

/** An iterator over the members of the object at an offset. */
class MemberCursor {
  fault: ShapeFault | undefined;
  nodes = 0;
  readonly #text: string;
  readonly #limits: ShapeLimits;
  #at: number;
  /** The member that was begun last, by its offsets. */
  #start = 0;
  #keyEnd = 0;
  #valueStart = 0;

  constructor(text: string, limits: ShapeLimits, from = 0) {
    this.#text = text;
    this.#limits = limits;
    const open = skipSpace(text, from);
    this.#at = text.charCodeAt(open) === OPEN_BRACE ? open + 1 : text.length;
  }

  next(): Member | undefined {
    return this.#begin() ? this.#member(this.#key()) : undefined;
  }

  /** The next member with a name. */
  find(name: string): Member | undefined {
    return this.#seek(name) ? this.#member(name) : undefined;
  }

  /** The start of the value of the next member with a name. It ends the use of the cursor. */
  enter(name: string): number | undefined {
    return this.#seek(name) ? this.#valueStart : undefined;
  }

  /** Begins the next member with a name, past those before it. */
  #seek(name: string): boolean {
    while (this.#begin()) {
      if (this.#isNamed(name)) return true;
      if (this.#pass(this.#valueStart) < 0) return false;
    }
    return false;
  }

  /** Reads the name of the next member, up to its value. */
  #begin(): boolean {
    const text = this.#text;
    const start = skipSpace(text, this.#at);
    if (text.charCodeAt(start) !== QUOTE) return false;
    if (++this.nodes > this.#limits.maxNodes) {
      this.#refuse("nodes");
      return false;
    }
    const keyEnd = stringEnd(text, start);
    this.#start = start;
    this.#keyEnd = keyEnd;
    this.#valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    return true;
  }

  /** The member that has begun, by its name; `undefined` beyond a limit. */
  #member(key: string): Member | undefined {
    const start = this.#start;
    const valueStart = this.#valueStart;
    const end = this.#pass(valueStart);
    return end < 0 ? undefined : { key, start, valueStart, end };
  }

  #isNamed(name: string): boolean {
    // A name with escapes is longer than what it means.
    return this.#keyEnd - this.#start - 2 >= name.length && this.#key() === name;
  }

  #key(): string {
    const key = this.#text.slice(this.#start + 1, this.#keyEnd - 1);
    return key.includes("\\") ? unescape(this.#text.slice(this.#start, this.#keyEnd)) : key;
  }

  /** Passes a value and the comma behind it. Returns the value's end; -1 beyond a limit. */
  #pass(valueStart: number): number {
    const text = this.#text;
    const end = this.#valueEnd(valueStart);
    if (end < 0) return end;
    const comma = skipSpace(text, end);
    this.#at = text.charCodeAt(comma) === COMMA ? comma + 1 : text.length;
    return end;
  }

  #valueEnd(from: number): number {
    const text = this.#text;
    const first = text.charCodeAt(from);
    if (first === QUOTE) return stringEnd(text, from);
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return scalarEnd(text, from);
    let depth = 1;
    let at = from + 1;
    for (; at < text.length && depth > 0; at++) {
      switch (text.charCodeAt(at)) {
        case QUOTE:
          at = stringEnd(text, at) - 1;
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          // The outer object is the first level.
          if (++depth >= this.#limits.maxDepth) return this.#refuse("depth");
          if (++this.nodes > this.#limits.maxNodes) return this.#refuse("nodes");
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          depth--;
          break;
        case COMMA:
          if (++this.nodes > this.#limits.maxNodes) return this.#refuse("nodes");
          break;
      }
    }
    return at;
  }

  #refuse(fault: ShapeFault): -1 {
    this.fault = fault;
    this.#at = this.#text.length;
    return -1;
  }
}

function scalarEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_BRACE || code <= 32) break;
  }
  return at;
}

function unescape(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted;
  }
}
