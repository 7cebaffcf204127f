/**
 * Where a cursor stands in a YAML text that may be unfinished: the path through the document, and
 * whether a key or a value is written there.
 */

import { isMap, isPair, isScalar, isSeq, type Node, parseDocument, visit } from "yaml";
import type { Path } from "../files/document.ts";

/** A place in a text. */
export interface Cursor {
  /** Of the map whose key is written, or of the value. */
  readonly path: Path;
  readonly role: "key" | "value";
  /** Whether an entry of a list is written, which may become a map or a word. */
  readonly isEntry: boolean;
  /** The word around the cursor, and where it begins and ends. */
  readonly word: string;
  readonly from: number;
  readonly to: number;
  /** Keys that the map has. */
  readonly keys: readonly string[];
  /** The document, as far as it can be read. */
  readonly value: unknown;
}

/** Stands for the word at the cursor. */
const MARK = "SluiceCursor";
const BEFORE = /(?:\$\{[^\s}]*|[\w$./*@-]*)$/;
const AFTER = /^[\w./*@:-]*\}?/;
const WORD_AFTER = /^[\w./*@-]*/;

/** Finds the place of an offset; `undefined` where nothing is written: in a comment or a text. */
export function cursorAt(text: string, offset: number): Cursor | undefined {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const [lineEnd = ""] = text.slice(offset).split("\n", 1);
  const start = text.slice(lineStart, offset);
  const [before = ""] = BEFORE.exec(start) ?? [];
  const after = before.startsWith("${") ? AFTER : WORD_AFTER;
  const [rest = ""] = after.exec(lineEnd) ?? [];
  const from = offset - before.length;
  const to = offset + rest.length;
  const prefix = text.slice(lineStart, from);
  const suffix = lineEnd.slice(rest.length);
  const isBare = /^\s*(?:- +)*$/.test(prefix) && /^\s*(?:#.*)?$/.test(suffix);
  // A bare word is a key that has no value yet.
  const mark = isBare ? `${MARK}:` : MARK;
  const found = find(`${text.slice(0, from)}${mark}${text.slice(to)}`);
  if (found === undefined) return undefined;
  const isEntry = isBare && /- +$/.test(prefix);
  return { ...found, isEntry, word: text.slice(from, to), from, to };
}

function find(text: string): Pick<Cursor, "path" | "role" | "keys" | "value"> | undefined {
  const document = parseDocument(text, { schema: "core", uniqueKeys: false, logLevel: "silent" });
  let found: Pick<Cursor, "path" | "role" | "keys"> | undefined;
  visit(document, {
    Scalar(key, node, ancestors) {
      if (typeof node.value !== "string" || node.value.trim() !== MARK) return undefined;
      const parents = [...ancestors, node] as Node[];
      const role = key === "key" ? "key" : "value";
      found = { role, path: pathOf(parents, role), keys: role === "key" ? keysAt(parents) : [] };
      return visit.BREAK;
    },
  });
  if (found === undefined) return undefined;
  return { ...found, value: valueOf(() => document.toJS({ maxAliasCount: 100 }) as unknown) };
}

function valueOf(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The path of nodes, from the document to the scalar. */
function pathOf(nodes: readonly unknown[], role: Cursor["role"]): Path {
  const path: (string | number)[] = [];
  for (const [index, node] of nodes.entries()) {
    const next = nodes[index + 1];
    if (isSeq(node)) path.push(node.items.indexOf(next));
    const isLast = index === nodes.length - 2;
    if (isPair(node) && !(role === "key" && isLast) && isScalar(node.key))
      path.push(String(node.key.value));
  }
  return path;
}

function keysAt(nodes: readonly unknown[]): readonly string[] {
  const map = nodes.findLast((node) => isMap(node));
  if (!isMap(map)) return [];
  return map.items.flatMap(({ key }) =>
    isScalar(key) && key.value !== MARK ? [String(key.value)] : [],
  );
}
