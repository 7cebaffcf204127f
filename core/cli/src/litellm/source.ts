/**
 * A LiteLLM configuration as it is read: plain data, with the line of everything, and a list of
 * what it says that we cannot.
 */

import { isNode, LineCounter, parseDocument } from "yaml";
import { isObject } from "@sluice/kit";

/** A way through the file. */
export type SourcePath = readonly (string | number)[];

/** Something that has no equivalent, or another meaning here. */
export interface ImportNote {
  readonly line: number;
  /** The setting, as `model_list[3].litellm_params.tags`. */
  readonly setting: string;
  /**
   * `missing`: it has no equivalent. `changed`: it was imported, and is not quite the same. `todo`:
   * the operator has to act.
   */
  readonly kind: "missing" | "changed" | "todo";
  readonly why: string;
}

/** An object of the file. */
export type Members = Readonly<Record<string, unknown>>;

/** A file and what was noted about it. */
export interface ImportSource {
  readonly value: Members;
  readonly notes: ImportNote[];
  /** Credentials that were written out, and the variables that are to hold them. */
  readonly literals: Map<string, string>;
  lineOf(path: SourcePath): number;
  note(kind: ImportNote["kind"], path: SourcePath, why: string): void;
}

/** Reads a file's text. Throws an Error that says the line of a fault. */
export function readSource(text: string): ImportSource {
  const lines = new LineCounter();
  const yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const [error] = yaml.errors;
  if (error !== undefined)
    throw new Error(`line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
  const value: unknown = yaml.toJS();
  if (!isObject(value)) throw new Error("line 1: the file holds no settings");
  const notes: ImportNote[] = [];
  const lineOf = (path: SourcePath): number => {
    for (let length = path.length; length > 0; length -= 1) {
      const node: unknown = yaml.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range !== undefined && node.range !== null)
        return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  return {
    value: value as Members,
    notes,
    literals: new Map(),
    lineOf,
    note: (kind, path, why) =>
      void notes.push({ line: lineOf(path), setting: settingOf(path), kind, why }),
  };
}

/** Members of a value, none where it is no object. */
export function membersOf(value: unknown): Members {
  return isObject(value) ? (value as Members) : {};
}

/** The items of a value, none where it is no list. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** A text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A number, also one that was written as a text. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

function settingOf(path: SourcePath): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`,
    "",
  );
}
