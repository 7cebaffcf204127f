/** Roles of an imported user, as `GET /user/info` shows them. */

import type { JsonObject, JsonValue, RoleGrant } from "@sluice/contract";
import { ROLES } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { type Fields, invalid, refuseUnknown } from "../fields.ts";
import { readId, readWord } from "../record-fields.ts";

const MAX_ROLES = 1_000;
const PLACES = ["whole", "organization", "team"] as const;

/** `roles`: `{ "role": "admin", "at": "organization", "organization_id": "emea" }`. */
export const ROLE_FIELD: Fields = { roles: { member: "roles", read: readRoles, cleared: [] } };

function readRoles(value: JsonValue, name: string, nowMs: number): readonly RoleGrant[] {
  if (!Array.isArray(value) || value.length > MAX_ROLES || !value.every(isObject))
    throw invalid(name, `The field ${name} must be an array of at most ${MAX_ROLES} roles.`);
  return (value as readonly JsonObject[]).map((grant) => {
    const at = readWord(PLACES)(
      grant["at"] ?? null,
      `${name}.at`,
      nowMs,
    ) as (typeof PLACES)[number];
    const role = readWord(ROLES)(grant["role"] ?? null, `${name}.role`, nowMs) as RoleGrant["role"];
    const idField = `${at}_id`;
    refuseUnknown(
      Object.keys(grant),
      ["role", "at", ...(at === "whole" ? [] : [idField])],
      "field",
    );
    if (at === "whole") return { role, place: { kind: at } };
    return { role, place: { kind: at, id: readId(grant[idField] ?? null, `${name}.${idField}`) } };
  });
}
