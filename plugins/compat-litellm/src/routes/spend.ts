/** Spend rows with LiteLLM's further members. */

import type {
  EdgeAnswer,
  EdgeGateway,
  ExtensionRequest,
  ExtensionRoute,
  JsonObject,
  JsonValue,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { spendReport } from "./spend-report.ts";

export const SPEND_ROUTES: readonly ExtensionRoute[] = [
  ...(["public", "admin"] as const).map((listener): ExtensionRoute => ({
    listener,
    method: "GET",
    path: "/global/spend/report",
    access: "key",
    handler: spendReport,
  })),
  { listener: "public", method: "GET", path: "/spend/logs", access: "key", handler: rows },
];

async function rows({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const answer = await gateway.call({
    method: "GET",
    path: "/spend/logs",
    query: Object.fromEntries(query),
  });
  const { status, body } = answer;
  if (status !== 200 || !Array.isArray(body)) return answer;
  return { ...answer, body: (body as readonly JsonValue[]).map(withOwners) };
}

/** A row with the members of its metadata that name its owners. The sums of a day have none. */
function withOwners(row: JsonValue): JsonValue {
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
