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
}

/** The exceeded limit. */
export type ShapeFault = "depth" | "nodes" | "members" | "containers" | "run";

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
  const last = path.length - 1;
  let cursor = new MemberCursor(text, UNBOUNDED);
  for (let depth = 0; depth < last; depth++) {
    const start = cursor.enter(path[depth]!);
    if (start === undefined) return undefined;
    cursor = new MemberCursor(text, UNBOUNDED, start);
  }
  for (let member = cursor.next(); member !== undefined; member = cursor.next()) {
    if (member.key === path[last]) return member;
  }
  return undefined;
}

/** A member whose `end` is set once its value has been passed. */
type Begun = Omit<Member, "end"> & { end: number };

/** An iterator over the members of the object at an offset. */
class MemberCursor {
  fault: ShapeFault | undefined;
  nodes = 0;
  readonly #text: string;
  readonly #limits: ShapeLimits;
  #at: number;

  constructor(text: string, limits: ShapeLimits, from = 0) {
    this.#text = text;
    this.#limits = limits;
    const open = skipSpace(text, from);
    this.#at = text.charCodeAt(open) === OPEN_BRACE ? open + 1 : text.length;
  }

  next(): Member | undefined {
    const member = this.#begin();
    if (member === undefined) return undefined;
    member.end = this.#pass(member.valueStart);
    return member.end < 0 ? undefined : member;
  }

  /** The start of the value of the next member with a name. It ends the use of the cursor. */
  enter(name: string): number | undefined {
    for (let begun = this.#begin(); begun !== undefined; begun = this.#begin()) {
      if (begun.key === name) return begun.valueStart;
      if (this.#pass(begun.valueStart) < 0) return undefined;
    }
    return undefined;
  }

  #begin(): Begun | undefined {
    const text = this.#text;
    const start = skipSpace(text, this.#at);
    if (text.charCodeAt(start) !== QUOTE) return undefined;
    if (++this.nodes > this.#limits.maxNodes) {
      this.#refuse("nodes");
      return undefined;
    }
    const keyEnd = stringEnd(text, start);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const key = text.slice(start + 1, keyEnd - 1);
    return {
      key: key.includes("\\") ? unescape(text.slice(start, keyEnd)) : key,
      start,
      valueStart,
      end: -1,
    };
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
