/** Rows with the members of LiteLLM's metadata that name their owners. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/** A row with its owners. The sums of a day have none. */
export function withOwners(row: JsonValue): JsonValue {
  if (!isObject(row) || row.request_id === undefined) return row;
  const metadata = isObject(row.metadata) ? row.metadata : {};
  const owners: JsonObject = {
    user_api_key: row.api_key ?? null,
    user_api_key_alias: row.key_alias ?? null,
    user_api_key_user_id: row.user ?? null,
    user_api_key_team_id: row.team_id ?? null,
    user_api_key_org_id: row.organization_id ?? null,
    user_api_key_end_user_id: row.end_user ?? null,
  };
  return { ...row, session_id: metadata.session_id ?? null, metadata: { ...metadata, ...owners } };
}
