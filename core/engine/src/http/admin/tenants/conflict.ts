/** The refusals of writes that the store did not make. */

import { GatewayError, type TenantConflict } from "@sluice/contract";
import { invalid } from "../fields.ts";

/** A record that was not written: `team` and its id. */
export interface Refused {
  /** `team`, `organization`, …. */
  readonly kind: string;
  readonly id: string;
  /** The field of the id, and that of the alias. */
  readonly idField: string;
  readonly aliasField: string;
  /** The path of the routes: `/team`. */
  readonly path: string;
}

/** The refusal of a record that was not written. */
export function tenantConflict(
  conflict: TenantConflict,
  { kind, id, idField, aliasField, path }: Refused,
): GatewayError {
  const named = `The ${kind} ${JSON.stringify(id)}`;
  if (conflict === "taken")
    return invalid(
      idField,
      `${named} exists already, or one whose id differs only by case, width or spaces, or another has the e-mail. Choose another one, or use POST ${path}/update.`,
    );
  if (conflict === "used")
    return invalid(
      idField,
      `${named} existed and was deleted. Ids are not used again: choose another one.`,
    );
  if (conflict === "alias")
    return invalid(
      aliasField,
      `Another ${kind} of the organization has this alias. Choose another one.`,
    );
  if (conflict === "border")
    return invalid(
      "budget_id",
      `${named} refers to something of another organization. Refer to what belongs to its own organization or to none.`,
    );
  return new GatewayError(
    "invalid_field",
    `${named} refers to an organization, a team, a user or a budget that does not exist. Create it first.`,
    { param: idField },
  );
}
