/** A whole reply as a response object. */

import { isObject } from "@sluice/kit";
import { Members, Reference } from "@sluice/kit/dialect";
import type { FaceContext, JsonObject } from "@sluice/contract";
import type { ResponsesState } from "../state.ts";
import { NO_EVENTS } from "./events.ts";
import { Output } from "./output.ts";
import { Pieces } from "./pieces.ts";
import { endingOf, itemStatusOf, responseOf } from "./response.ts";
import { logprobsOf } from "./stream.ts";
import { usageOf } from "./usage.ts";

/** The response of a chat completion. */
export function wholeResponse(
  reply: JsonObject,
  state: ResponsesState,
  context: FaceContext,
): JsonObject {
  const choice = Reference.firstChoice(reply);
  const ending = endingOf(Members.textIn(choice.finish_reason) ?? "stop");
  const output = new Output(context, state, NO_EVENTS);
  const pieces = new Pieces(output);
  if (isObject(choice.message)) pieces.delta(choice.message, logprobsOf(choice.logprobs, state));
  pieces.end(itemStatusOf(ending));
  return responseOf(state, context, {
    ending,
    output: output.items(),
    usage: usageOf(reply.usage),
    tier: Members.textIn(reply.service_tier),
  });
}
