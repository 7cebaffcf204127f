/**
 * Members that differ only by case from a member of the dialect. Go's `encoding/json` matches names
 * in any case, and the last one wins: an upstream in Go would read another body than the gateway.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { isPlace } from "@sluice/kit/internals";
import { MEMBERS, type PlaceName } from "@sluice/kit/internals";

/** The place of a member, and the name that it resembles. */
export interface CaseVariant {
  readonly path: readonly (string | number)[];
  readonly known: string;
}

/** Maximum nesting: no dialect has deeper content. */
const MAX_DEPTH = 100;

/** Members of each place by their folded names. */
const FOLDED = new Map<PlaceName, ReadonlyMap<string, string>>(
  (Object.keys(MEMBERS) as PlaceName[]).map((place) => [
    place,
    new Map(Object.keys(MEMBERS[place]).map((name) => [fold(name), name])),
  ]),
);

/**
 * The first case variant of a body; `undefined` without one. The client chooses the names in
 * schemas, arguments and metadata.
 */
export function caseVariant(body: JsonObject): CaseVariant | undefined {
  return variantIn(body, "body", 0);
}

function variantIn(
  value: JsonValue,
  place: PlaceName,
  depth: number,
): { path: (string | number)[]; known: string } | undefined {
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item = value[index] as JsonValue;
      const found =
        typeof item === "object" && item !== null ? variantIn(item, place, depth + 1) : undefined;
      if (found !== undefined) return within(index, found);
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const members = MEMBERS[place];
  for (const name in value) {
    const content = members[name];
    if (content === undefined) {
      const known = FOLDED.get(place)?.get(fold(name));
      if (known !== undefined) return { path: [name], known };
      continue;
    }
    const member = value[name];
    if (typeof member !== "object" || member === null || !isPlace(content)) continue;
    const found = variantIn(member, content, depth + 1);
    if (found !== undefined) return within(name, found);
  }
  return undefined;
}

function within<T extends { path: (string | number)[] }>(name: string | number, found: T): T {
  found.path.unshift(name);
  return found;
}

/**
 * The name in the form that case-insensitive parsers compare: `toLowerCase` maps U+212A (kelvin) to
 * k, and keeps U+017F (long s). For parsers in C, a name ends at U+0000.
 */
function fold(name: string): string {
  const [seen = ""] = name.split("\u0000", 1);
  return seen.toLowerCase().replaceAll("\u017f", "s");
}
