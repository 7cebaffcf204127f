/**
 * Requests for a compaction (platform.openai.com/docs/api-reference/responses/compact). The
 * upstream writes it for itself: no other one reads it, so there is no translation.
 */

import type { Stages } from "@sluice/kit";
import type { FaceMeans, FaceRequest, JsonObject } from "@sluice/contract";
import type { ResponsesState } from "../state.ts";
import { readRequest } from "./read.ts";
import { refused } from "./refusals.ts";

/** The end of their paths. */
export const COMPACT = "/compact";

/** Members of a response that a compaction has not. */
const NONE = ["stream", "background"] as const;

/** Reads a request. Throws `invalid_field` with the client's path. */
export function* readCompaction(
  body: JsonObject,
  means: FaceMeans,
): Stages.Of<FaceRequest<ResponsesState>> {
  const asked = { ...body, ...means.replaced };
  for (const name of NONE)
    if (asked[name] === true)
      throw refused(name, `A compaction is one reply: it has no ${name}. Leave the field out.`);
  return { ...(yield* readRequest(body, means)), endpoint: COMPACT.slice(1) };
}
