/** The refusal of a tag that other keys or teams have. */

import { GatewayError } from "@sluice/contract";

/** A tag of other records, or with a budget of its own, that this key may not name. */
export function foreignTag(tag: string): GatewayError {
  const message = `The tag ${JSON.stringify(tag)} belongs to other keys or teams, or has a budget of its own. Leave it out, or ask the operator to add it to allowed_tags of this key or its team.`;
  return new GatewayError("permission_denied", message, { param: "tags" });
}
