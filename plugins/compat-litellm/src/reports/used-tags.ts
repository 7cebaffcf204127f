/** `GET /tag/list`: the tags that rows carry. Tags have no record here. */

import type { EdgeAnswer, EdgeGateway, ExtensionRequest } from "@sluice/contract";
import { isGroups, reportGroups } from "./report-groups.ts";

/** LiteLLM's view of tags that were used and never made. */
export async function usedTags(
  { query }: ExtensionRequest,
  gateway: EdgeGateway,
): Promise<EdgeAnswer> {
  const groups = await reportGroups(gateway, {
    group_by: "tag",
    from: query.get("start_date")?.slice(0, 10) || undefined,
    to: query.get("end_date")?.slice(0, 10) || undefined,
  });
  if (!isGroups(groups)) return groups;
  return {
    status: 200,
    body: groups.flatMap(({ tag = null, spend = null }) =>
      tag === null
        ? []
        : {
            name: tag,
            description: "A tag of requests or records. It has no record of its own.",
            models: null,
            spend,
            created_at: null,
            updated_at: null,
            created_by: null,
          },
    ),
  };
}
