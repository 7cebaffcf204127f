/**
 * @sluice/face-messages: Anthropic's Messages (platform.claude.com/docs/en/api/messages; the types
 * of its SDK 1.11.0) as a form in which clients reach every model.
 */

import { defineFace } from "@sluice/kit";
import { errorReply } from "./errors.ts";
import { MODELS } from "./models.ts";
import { readRequest, requestStages, type State } from "./read/request.ts";
import { messageOf } from "./reply/message.ts";
import { MessageWriter } from "./reply/stream.ts";

export default defineFace({
  name: "messages",
  stability: "beta",
  summary: "Anthropic's Messages for every model: whole, streamed, counted.",
  config: { type: "object", properties: {} },
  paths: ["POST /v1/messages", "POST /v1/messages/count_tokens"],
  create: () => ({
    dialect: "anthropic",
    // Clients send them to every model.
    hints: ["reasoning_effort", "thinking", "verbosity"],
    keyHeaders: ["x-api-key"],
    nativeHeaders: ["anthropic-version", "anthropic-beta"],
    nativeReplies: { modelAt: [["model"], ["message", "model"]] },
    heartbeat: 'event: ping\ndata: {"type":"ping"}\n\n',
    read: readRequest,
    readInStages: requestStages,
    whole: (reply, state, context) => messageOf(reply, state as State, context),
    stream: (state, context) => new MessageWriter(state as State, context),
    error: errorReply,
    count: (inputTokens) => ({ input_tokens: inputTokens }),
    models: MODELS,
  }),
});
