/** LiteLLM's routes of spend and activity. */

import type {
  EdgeAnswer,
  EdgeGateway,
  ExtensionHandler,
  ExtensionRequest,
  ExtensionRoute,
  JsonValue,
} from "@sluice/contract";
import { ACTIVITIES, dailyActivity } from "./daily-activity.ts";
import { globalActivity, modelActivity } from "./global-activity.ts";
import { withOwners } from "./owners.ts";
import { pagedLogs } from "./paged-logs.ts";
import { spendReport } from "./spend-report.ts";
import { usedTags } from "./used-tags.ts";

/** Reports that both listeners have: each caller sees what the roles, or the own key, show. */
const REPORTS: readonly (readonly [path: string, handler: ExtensionHandler])[] = [
  ["/global/spend/report", spendReport],
  ["/global/activity", globalActivity],
  ["/global/activity/model", modelActivity],
  ["/tag/list", usedTags],
  ...ACTIVITIES.map(([path, kind]) => [path, dailyActivity(kind)] as const),
];

export const SPEND_ROUTES: readonly ExtensionRoute[] = [
  ...REPORTS.flatMap(([path, handler]) =>
    (["public", "admin"] as const).map((listener): ExtensionRoute => ({
      listener,
      method: "GET",
      path,
      access: "key",
      handler,
    })),
  ),
  { listener: "public", method: "GET", path: "/spend/logs", access: "key", handler: rows },
  { listener: "public", method: "GET", path: "/spend/logs/v2", access: "key", handler: pagedLogs },
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
