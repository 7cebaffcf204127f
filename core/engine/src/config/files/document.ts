/** A YAML file, read with care, that knows the line and column of everything in it. */

import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  visit,
  type Document,
  type Node,
  type Pair,
  type YAMLError,
} from "yaml";

import type { Finding } from "../finding.ts";
import { misindentedLine } from "./indentation.ts";
import { atOnce, type Pieces } from "./slices.ts";
import type { Position } from "../snapshot.ts";
import { type ConfigSource, diskSource, sha256 } from "./source.ts";
import { DANGLING_ALIAS, explainSyntax } from "./syntax.ts";
import { parseInPieces } from "./yaml.ts";

const MAX_ALIASES = 10;

/** A way through a document: keys and indices from the root. */
export type Path = readonly (string | number)[];

/** A file that was read and parsed. */
export interface ConfigDocument {
  /** Absolute path. */
  readonly path: string;
  /** The name of the file in findings. */
  readonly file: string;
  /** SHA-256 of the contents, hexadecimal. */
  readonly digest: string;
  /** The contents as they were read. */
  readonly text: string;
  /**
   * The contents as plain data. Aliased values are one object: a caller copies before it changes
   * anything.
   */
  readonly value: unknown;
  /** Where a value stands; for a missing one, where its parent's key stands. */
  valueAt(path: Path): Position;
  /** Where a key stands, or an item of a list; for a missing one, where its parent's key stands. */
  keyAt(path: Path): Position;
  /** Where the file ends. */
  readonly end: Position;
}

/** What reading a file gives: a document, or the findings that explain why there is none. */
export type ReadResult =
  | { readonly document: ConfigDocument; readonly findings: readonly [] }
  | { readonly document: undefined; readonly findings: readonly Finding[] };

/**
 * What was read before, by path: a file with the same contents is not parsed again. One reading of
 * each path is kept.
 */
export type KnownDocuments = Map<
  string,
  { readonly digest: string; readonly file: string; readonly result: ReadResult }
>;

/** Reads a YAML file. `file` is its name in findings. */
export function readDocument(
  path: string,
  file: string,
  source: ConfigSource = diskSource,
): ReadResult {
  return atOnce(readInPieces(path, file, source));
}

/** Reads a YAML file in pieces. */
export function* readInPieces(
  path: string,
  file: string,
  source: ConfigSource,
  known?: KnownDocuments,
): Pieces<ReadResult> {
  const fault = (message: string, fix: string): ReadResult => ({
    document: undefined,
    findings: [{ at: { file, line: 1, column: 1 }, message, fix }],
  });
  const read = source.read(path);
  if (read.bytes === undefined)
    return fault(
      `the file cannot be read: ${read.reason}`,
      read.fix ?? "create it, or name another file",
    );
  const digest = sha256(read.bytes);
  const before = known?.get(path);
  if (before !== undefined && before.digest === digest && before.file === file)
    return before.result;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(read.bytes);
  } catch {
    return fault("the file is not UTF-8 text", "save it in UTF-8");
  }
  const result = yield* parseText(text, path, file, digest);
  known?.set(path, { digest, file, result });
  return result;
}

function* parseText(text: string, path: string, file: string, digest: string): Pieces<ReadResult> {
  const { yaml, lines } = yield* parseInPieces(text);
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(Math.min(offset, text.length));
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const errors = [...yaml.errors, ...yaml.warnings];
  if (errors.length > 0) return { document: undefined, findings: syntaxFindings(errors, text, at) };
  const lost = danglingAliases(yaml);
  if (lost.length > 0)
    return {
      document: undefined,
      findings: lost.map((offset) => ({ at: at(offset), ...DANGLING_ALIAS })),
    };
  yield;
  let value: unknown;
  try {
    value = yaml.toJS({ maxAliasCount: MAX_ALIASES }) as unknown;
  } catch {
    const finding = {
      at: at(0),
      message: `the file uses more than ${MAX_ALIASES} aliases (*name)`,
      fix: "write the values out",
    };
    return { document: undefined, findings: [finding] };
  }
  const start = yaml.contents?.range?.[0] ?? 0;
  const locate = (path: Path, wanted: "key" | "value"): Position =>
    at(offsetOf(yaml, path, wanted) ?? start);
  const document: ConfigDocument = {
    path,
    file,
    digest,
    text,
    value,
    valueAt: (path) => locate(path, "value"),
    keyAt: (path) => locate(path, "key"),
    end: at(text.length),
  };
  return { document, findings: [] };
}

/**
 * Every key that is written twice, and the first fault of the text's structure: what follows that
 * one follows from it.
 */
function syntaxFindings(
  errors: readonly YAMLError[],
  text: string,
  at: (offset: number) => Position,
): Finding[] {
  const sorted = errors.toSorted((left, right) => left.pos[0] - right.pos[0]);
  const fault = sorted.find(({ code }) => code !== "DUPLICATE_KEY");
  const twice = sorted.filter(
    ({ code, pos }) => code === "DUPLICATE_KEY" && (fault === undefined || pos[0] < fault.pos[0]),
  );
  const findings = twice.map((error): Finding => ({
    at: at(error.pos[0]),
    ...explainSyntax(error, text),
  }));
  if (fault === undefined) return findings;
  const place = at(fault.pos[0]);
  // A key that stands too deep makes a fault of the value above it.
  const wrong = misindentedLine(text, place.line + 1);
  if (wrong === undefined) return [...findings, { at: place, ...explainSyntax(fault, text) }];
  const { line, column, message, fix } = wrong;
  // A key can be there twice because the line ended a section too early.
  return [
    ...findings.filter((finding) => finding.at.line < line),
    { at: { ...place, line, column }, message, fix },
  ];
}

/** Offsets of aliases that name no anchor. */
function danglingAliases(yaml: Document.Parsed): number[] {
  const offsets: number[] = [];
  visit(yaml, {
    Alias: (_key, alias) => {
      if (alias.resolve(yaml) === undefined) offsets.push(alias.range?.[0] ?? 0);
    },
  });
  return offsets;
}

/** The offset of the last part of a path that is there. */
function offsetOf(yaml: Document.Parsed, path: Path, wanted: "key" | "value"): number | undefined {
  let node: unknown = yaml.contents;
  let keyOffset: number | undefined;
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(yaml);
    if (isMap(node)) {
      const pair: Pair | undefined = node.items.find(
        (item) => isScalar(item.key) && String(item.key.value) === String(part),
      );
      if (pair === undefined) return keyOffset;
      keyOffset = (pair.key as Node).range?.[0];
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(part)] as Node | undefined;
      if (item === undefined) return keyOffset;
      keyOffset = item.range?.[0];
      node = item;
    } else {
      return keyOffset;
    }
  }
  if (wanted === "key" || node === null) return keyOffset;
  // An alias, a block and an absent value: the reader looks for the key's line, and a scalar's own
  // place.
  const isBlock = (isMap(node) || isSeq(node)) && node.flow !== true;
  return isBlock ? keyOffset : ((node as Node).range?.[0] ?? keyOffset);
}
