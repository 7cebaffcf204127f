/**
 * Refuses members of bodies that parsers and copies read differently: names such as `__proto__`,
 * which change the prototype of a copy, and names that differ from known ones only by case.
 * Opaque values may have them.
 */

import { GatewayError, type JsonObject, type JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { caseVariant } from "@sluice/runtime";
import { invalidField } from "./body-fields.ts";

const DANGEROUS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** A text that may hold such a name, written out or with escapes. */
const SUSPECT = /__proto__|constructor|prototype|\\u00/;

/**
 * Places whose content is the client's own, copied whole: JSON Schemas and notes. `*` stands for an
 * index.
 */
const OPAQUE: ReadonlySet<string> = new Set([
  "metadata",
  "tools.*.function.parameters",
  "functions.*.parameters",
  "response_format.json_schema",
]);
/** The longest of them has four members: below that nothing is opaque, and places need no name. */
const DEEPEST_OPAQUE = 4;

/**
 * Throws `invalid_field` for such a member of a parsed body. `text` is what was parsed; its depth
 * is bounded.
 */
export function refuseDangerousMembers(text: string, value: JsonObject): void {
  if (SUSPECT.test(text)) visit(value, "", 0);
}

function visit(value: JsonValue | undefined, place: string, depth: number): void {
  if (Array.isArray(value)) {
    for (const item of value as readonly JsonValue[])
      if (typeof item === "object") visit(item, below(place, "*", depth), depth + 1);
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    if (DANGEROUS.has(name))
      throw new GatewayError("invalid_field", `The field ${name} is not allowed. Remove it.`, {
        param: name,
      });
    const member = value[name];
    if (typeof member !== "object") continue;
    const inner = below(place, name, depth);
    if (!OPAQUE.has(inner)) visit(member, inner, depth + 1);
  }
}

function below(place: string, name: string, depth: number): string {
  if (depth >= DEEPEST_OPAQUE) return "";
  return place === "" ? name : `${place}.${name}`;
}

/** Throws `invalid_field` for a member whose name differs from a dialect's member only by case. */
export function refuseCaseVariants(body: JsonObject): void {
  const found = caseVariant(body);
  if (found !== undefined)
    throw invalidField(
      found.path,
      `differs only by case from ${found.known}; write ${found.known}`,
    );
}
