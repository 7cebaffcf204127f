/** JSON for readers: a value stands on one line where it fits. */

import type { JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

const MAX_COLUMNS = 100;

/**
 * Writes a value with two spaces a level, at most 100 columns where strings allow it, and a final
 * line break.
 */
export function layoutJson(value: JsonValue): string {
  return `${layoutAt(value, "", 0)}\n`;
}

/** `used`: columns on the value's first line that its member's name takes. */
function layoutAt(value: JsonValue, indent: string, used: number): string {
  const line = lineOf(value);
  if (indent.length + used + line.length < MAX_COLUMNS) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map((item) => inner + layoutAt(item, inner, 0));
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  if (!isObject(value)) return line;
  const members = membersOf(value).map(([name, member]) => {
    const key = `${JSON.stringify(name)}: `;
    return inner + key + layoutAt(member, inner, key.length);
  });
  return `{\n${members.join(",\n")}\n${indent}}`;
}

function lineOf(value: JsonValue): string {
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(lineOf).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = membersOf(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${lineOf(member)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function membersOf(value: object): [string, JsonValue][] {
  return Object.entries(value).filter(([, member]) => member !== undefined) as [
    string,
    JsonValue,
  ][];
}
