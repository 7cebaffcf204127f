/**
 * Chat requests of the reference dialect: the shape check, and the gateway's own fields taken out.
 */

import type { ClientRequest, GatewayRequest, JsonDocument, JsonObject } from "@sluice/contract";
import { isObject, type Stages } from "@sluice/kit";
import { CHAT_FIELDS } from "./fields.ts";
import { compileFields, type FieldTable, invalidField } from "../body-fields.ts";
import { compileFieldStages } from "../field-stages.ts";
import { GATEWAY_FIELDS } from "../gateway-fields/table.ts";
import { takeGatewayFields } from "../gateway-fields/gateway-fields.ts";

/** Every field that a chat request may hold and the gateway knows. */
export const CHAT_BODY: FieldTable = { ...GATEWAY_FIELDS, ...CHAT_FIELDS };

const checkFields = compileFields(CHAT_BODY);
const checkInStages = compileFieldStages(CHAT_BODY);

/** The request of a chat body. Throws `invalid_field` with the field's name. */
export function receiveChat(document: JsonDocument, client: ClientRequest): GatewayRequest {
  checkFields(document.value);
  return checkedRequest(document, client);
}

/** The same in stages, for a large body. */
export function* chatStages(
  document: JsonDocument,
  client: ClientRequest,
): Stages.Of<GatewayRequest> {
  yield* checkInStages(document.value);
  yield;
  return checkedRequest(document, client);
}

function checkedRequest(document: JsonDocument, client: ClientRequest): GatewayRequest {
  const { value } = document;
  checkTogether(value);
  const stream = value.stream === true;
  return {
    ...takeGatewayFields(document, client),
    stream,
    includeUsage:
      stream && isObject(value.stream_options) && value.stream_options.include_usage === true,
  };
}

/** Fields that the reference API takes only beside another. */
function checkTogether({ stream, stream_options, logprobs, top_logprobs }: JsonObject): void {
  if (isObject(stream_options) && stream !== true)
    throw invalidField(["stream_options"], "is allowed only with stream: true");
  if (typeof top_logprobs === "number" && top_logprobs > 0 && logprobs !== true) {
    throw invalidField(["top_logprobs"], "is allowed only with logprobs: true");
  }
}
