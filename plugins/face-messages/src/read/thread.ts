/**
 * A conversation that the provider keeps (beta `message-threads`): a `thread` with the type
 * `create`, then one with `continue` and `previous_message_id`, and the new messages alone. No key
 * owns it, it exists in one account, and the tokens of what it holds cannot be reserved: no model
 * has it.
 */

import { GatewayError, type JsonObject } from "@sluice/contract";
import { isSet } from "./fields.ts";

const FIELD = "thread";

/** Throws `invalid_field` for a request of such a conversation. */
export function refuseThread(body: JsonObject): void {
  if (!isSet(body[FIELD])) return;
  throw new GatewayError(
    "invalid_field",
    "thread is not served: the gateway keeps no conversations for this route. Send all messages, without thread.",
    { param: FIELD },
  );
}

/**
 * Details by which the SDK's runner of tools sends the turn again with all messages
 * (@anthropic-ai/sdk 1.11, lib/internal/threads/ThreadState: `unsupportedFeatures`); `undefined`
 * for another error.
 */
export function threadDetails({ code, param }: GatewayError): JsonObject | undefined {
  return code === "invalid_field" && param === FIELD
    ? { error_code: "thread_unsupported_request", unsupported: [FIELD] }
    : undefined;
}
