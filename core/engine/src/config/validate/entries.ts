/** Reads the entries of a gateway file that no schema has checked yet. */

import type { Fault } from "./explain.ts";
import { formatPath, valueAtPath } from "../files/path.ts";

/** The faults of entries of a list whose name another entry has already. */
export function duplicates(gateway: unknown, list: string, key: string): Fault[] {
  const first = new Map<string, number>();
  const faults: Fault[] = [];
  for (const [index, entry] of listOf(gateway, list).entries()) {
    const name = textOf(entry, key);
    if (name === undefined) continue;
    const earlier = first.get(name);
    if (earlier === undefined) {
      first.set(name, index);
      continue;
    }
    const path = [list, index, key];
    const message = `\`${formatPath(path)}\` is "${name}", which \`${formatPath([list, earlier])}\` is already`;
    faults.push({ path, on: "value", message, fix: "rename or remove one of the two" });
  }
  return faults;
}

/** A list of a section; empty where there is none. */
export function listOf(value: unknown, key: string): readonly unknown[] {
  const list = valueAtPath(value, [key]);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

/** A section with names; empty where there is none. */
export function sectionOf(value: unknown, key: string): object {
  const section = valueAtPath(value, [key]);
  return typeof section === "object" && section !== null && !Array.isArray(section) ? section : {};
}

/** A text of a section; `undefined` where there is none. */
export function textOf(value: unknown, key: string): string | undefined {
  const text = valueAtPath(value, [key]);
  return typeof text === "string" ? text : undefined;
}
