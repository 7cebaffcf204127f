/** Paths through a document, as people write them and as ajv does. */

import type { Path } from "./document.ts";

/** A path for people: `models[0].targets[1].provider`. */
export function formatPath(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[^\s.[\]"]+$/.test(part)) text += text === "" ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}

/** A JSON pointer as a path through the data it points into. */
export function pathOfPointer(pointer: string, data: unknown): Path {
  const path: (string | number)[] = [];
  let current = data;
  for (const raw of pointer.split("/").slice(1)) {
    const part = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(current) ? Number(part) : part);
    current = memberOf(current, part);
  }
  return path;
}

/** The value at a path, `undefined` when there is none. */
export function valueAtPath(data: unknown, path: Path): unknown {
  return path.reduce((current: unknown, part) => memberOf(current, part), data);
}

/** Puts a value at a path whose parent is there. */
export function setAtPath(data: unknown, path: Path, value: unknown): void {
  const parent = valueAtPath(data, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof parent !== "object" || parent === null || last === undefined) return;
  Object.defineProperty(parent, last, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** Whether two paths are the same. */
export function isSamePath(left: Path, right: Path): boolean {
  return (
    left.length === right.length &&
    left.every((part, index) => String(part) === String(right[index]))
  );
}

function memberOf(value: unknown, part: string | number): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
  return (value as Readonly<Record<string | number, unknown>>)[part];
}
