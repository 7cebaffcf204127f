/** @sluice/face-gemini: clients of Gemini's generateContent reach every model. */

import { defineFace } from "@sluice/kit";
import { errorReply } from "./reply/errors.ts";
import { MODELS } from "./reply/models.ts";
import { readRequest, requestStages, type State } from "./request/read.ts";
import { EventStream } from "./reply/stream.ts";
import { wholeReply } from "./reply/whole.ts";

export const gemini = defineFace<Readonly<Record<never, never>>>({
  name: "gemini",
  stability: "beta",
  summary: "Gemini's generateContent, streamGenerateContent and countTokens, for every model.",
  config: { type: "object", properties: {} },
  // The SDK asks for v1 since version 3; older ones, and Gemini CLI, ask for v1beta.
  paths: ["v1beta", "v1"].flatMap((version) => [
    `POST /${version}/models/{model...}:generateContent`,
    `POST /${version}/models/{model...}:streamGenerateContent`,
    `POST /${version}/models/{model...}:countTokens`,
    `GET /${version}/models`,
    `GET /${version}/models/{model_id...}`,
  ]),
  create: () => ({
    dialect: "google",
    // Clients send them to every model.
    hints: ["reasoning_effort", "thinking", "verbosity"],
    keyHeaders: ["x-goog-api-key"],
    nativeReplies: { modelAt: [["modelVersion"]], lastHas: ["candidates", "finishReason"] },
    // White space between events: older clients of the API take a comment for a broken event.
    heartbeat: "\r\n\r\n",
    read: readRequest,
    readInStages: requestStages,
    whole: (reply, state, context) => wholeReply(reply, state as State, context),
    stream: (state, context) => new EventStream(state as State, context),
    error: errorReply,
    count: (inputTokens) => ({ totalTokens: inputTokens }),
    models: MODELS,
  }),
});

export default [gemini];
