/**
 * Refuses bodies whose members parsers read differently: names that differ from known ones only by
 * case.
 */

import type { JsonObject } from "@sluice/contract";
import { caseVariant } from "@sluice/runtime";
import { invalidField } from "./body-fields.ts";

/** Throws `invalid_field` for a member whose name differs from a dialect's member only by case. */
export function refuseCaseVariants(body: JsonObject): void {
  const found = caseVariant(body);
  if (found !== undefined)
    throw invalidField(
      found.path,
      `differs only by case from ${found.known}; write ${found.known}`,
    );
}
