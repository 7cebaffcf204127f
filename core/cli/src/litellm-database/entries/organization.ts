/** A row of LiteLLM_OrganizationTable. */

import { defined, idAt, type Row, textAt } from "../values.ts";
import { blockOf, modelsOf, type Reading } from "./block.ts";
import type { Entry, LeftOut } from "./entry.ts";

/** The organization. Its limits are those of the budget that it refers to. */
export function organizationEntry(row: Row, reading: Reading): Entry | LeftOut {
  const id = idAt(row, "organization_id");
  if (id === undefined) return { name: "an organization", leftOut: "it has no organization_id" };
  const { fields, ...block } = blockOf(row, modelsOf(row, [], false), reading);
  return {
    ...block,
    id,
    body: {
      organization_id: id,
      ...defined("organization_alias", textAt(row, "organization_alias")),
      ...fields,
    },
    name: `organization ${JSON.stringify(id)}`,
  };
}
