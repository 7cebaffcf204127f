/** A row of LiteLLM_EndUserTable. */

import { defined, type Row, textAt } from "../values.ts";
import { blockOf, modelsOf, type Reading } from "./block.ts";
import type { Entry, LeftOut } from "./entry.ts";
import { lost } from "./losses.ts";

/**
 * The customer, once for each place whose keys name customers: LiteLLM has one for all, here each
 * organization has its own. `""` is the place of keys without an organization.
 */
export function customerEntries(
  row: Row,
  places: readonly string[],
  reading: Reading,
): readonly (Entry | LeftOut)[] {
  // Bytes of a customer's id are never changed.
  const id = textAt(row, "user_id");
  if (id === undefined) return [{ name: "a customer", leftOut: "it has no user_id" }];
  // In the block, user_id names another record.
  const { fields, ...block } = blockOf(row, modelsOf(row, [], false), reading);
  return places.map((place) => ({
    ...block,
    id: JSON.stringify([place, id]),
    name: `customer ${JSON.stringify(id)}${place === "" ? "" : ` of ${JSON.stringify(place)}`}`,
    body: {
      customer_id: id,
      organization_id: place,
      ...defined("customer_alias", textAt(row, "alias")),
      ...fields,
    },
    references: [
      ...block.references,
      ...(place === ""
        ? []
        : [{ table: "organizations" as const, id: place, field: "organization_id" }]),
    ],
    bounds: [
      ...block.bounds,
      ...lost(row, "allowed_model_region", "models have no region; list models of the region"),
    ],
    losses: [...block.losses, ...lost(row, "default_model", "LiteLLM does not use it either")],
  }));
}
