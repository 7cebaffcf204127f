/**
 * Fields by which an upstream chooses models or tools itself. They are forwarded when the operator
 * allows it.
 */

import {
  GatewayError,
  type JsonObject,
  type ProviderInstance,
  type Target,
} from "@sluice/contract";

/** Throws `unsupported_parameter` for such a field when the target does not forward it. */
export function refuseSteering(
  body: JsonObject,
  target: Target,
  { name, translation }: ProviderInstance,
): void {
  const { steering } = translation.capabilities;
  const found = steering?.find(
    (field) => (body[field] ?? undefined) !== undefined && target.forward?.includes(field) !== true,
  );
  if (found === undefined) return;
  throw new GatewayError(
    "unsupported_parameter",
    `The field ${found} lets ${name} choose another model or tool. It is refused unless the target lists it in \`forward\`.`,
    { param: found },
  );
}
