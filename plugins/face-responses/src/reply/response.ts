/** The response object. */

import type { FaceContext, GatewayError, JsonObject } from "@sluice/contract";
import { finalCodeOf, messageOf } from "../codes.ts";
import type { ResponsesState } from "../state.ts";
import type { ItemStatus } from "./open-item.ts";

/** How a response ends. */
export interface Ending {
  readonly status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
  readonly reason?: "max_output_tokens" | "content_filter";
  readonly error?: JsonObject;
}

/** What a response holds beside what it repeats of the request. */
export interface ResponseParts {
  readonly ending: Ending;
  readonly output: readonly JsonObject[];
  readonly usage: JsonObject | null;
  /** The service tier that the upstream used. */
  readonly tier?: string | undefined;
}

/** The tiers of this API. The usual tier has another name elsewhere. */
const TIERS = new Set(["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"]);

/** What ids of a response's items are made of: the request's id without hyphens. */
export function idOf({ requestId }: FaceContext): string {
  return requestId.replaceAll("-", "");
}

/** The response object. */
export function responseOf(
  { echo }: ResponsesState,
  context: FaceContext,
  { ending, output, usage, tier }: ResponseParts,
): JsonObject {
  const { status, reason, error = null } = ending;
  return {
    id: `resp_${idOf(context)}`,
    object: "response",
    created_at: Math.floor(context.startedAtMs / 1_000),
    completed_at: null,
    status,
    error,
    incomplete_details: reason === undefined ? null : { reason },
    model: context.model,
    output,
    usage,
    ...echo,
    ...(tier === undefined ? {} : { service_tier: TIERS.has(tier) ? tier : "default" }),
  };
}

/** The ending by an error. A response in the background is cancelled where its client ended it. */
export function failedBy(error: GatewayError): Ending {
  if (error.code === "client_closed") return { status: "cancelled" };
  return { status: "failed", error: { code: finalCodeOf(error), message: messageOf(error) } };
}

/** The ending of a finish reason. */
export function endingOf(finish: string): Ending {
  if (finish === "length") return { status: "incomplete", reason: "max_output_tokens" };
  if (finish === "content_filter") return { status: "incomplete", reason: "content_filter" };
  return { status: "completed" };
}

/** The status of an ending's last item. */
export function itemStatusOf({ status }: Ending): ItemStatus {
  return status === "completed" ? "completed" : "incomplete";
}
