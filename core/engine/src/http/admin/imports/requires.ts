/** What an entry needs of the gateway: without it the record would be less limited. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { invalid } from "../fields.ts";
import { readId } from "../record-fields.ts";

const MAX_REQUIRED = 100;
const KINDS = ["organization", "team", "user", "budget"] as const;

/** A record that must exist. */
export type Required =
  | { readonly kind: (typeof KINDS)[number]; readonly id: { readonly id: string } }
  | {
      readonly kind: "membership";
      readonly id: { readonly userId: string; readonly teamId: string };
    };

/** Reads `requires`. Throws `invalid_field`. */
export function readRequires(value: JsonValue): readonly Required[] {
  if (value === null) return [];
  if (!Array.isArray(value) || value.length > MAX_REQUIRED || !value.every(isObject))
    throw invalid(
      "requires",
      `The field requires must be an array of at most ${MAX_REQUIRED} objects, such as { "kind": "team", "id": "support" }.`,
    );
  return (value as readonly JsonObject[]).map((one) => {
    const { kind: name } = one;
    if (name === "membership")
      return {
        kind: name,
        id: {
          userId: readId(one["user_id"] ?? null, "requires.user_id"),
          teamId: readId(one["team_id"] ?? null, "requires.team_id"),
        },
      };
    const kind = KINDS.find((known) => known === name);
    if (kind === undefined)
      throw invalid(
        "requires",
        `The field requires.kind must be one of: ${KINDS.join(", ")}, membership.`,
      );
    return { kind, id: { id: readId(one["id"] ?? null, "requires.id") } };
  });
}
