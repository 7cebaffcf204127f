/** The texts of whole replies, as many as are found in one turn of the event loop. */

import { GatewayError, type JsonObject, type Operation } from "@sluice/contract";
import { bodyTexts } from "@sluice/kit/guard";
import type { BodyText } from "@sluice/kit/internals";

/** The texts of a reply. Throws `upstream_invalid_response` for too many. */
export function replyTexts(reply: JsonObject, operation: Operation): readonly BodyText[] {
  return bodyTexts(reply, operation, "blocks", tooMany).texts;
}

function tooMany(most: number): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    `The upstream's reply has more than ${most} texts, which guardrails check.`,
  );
}
