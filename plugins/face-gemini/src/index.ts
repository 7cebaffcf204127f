/** @sluice/face-gemini: clients of Gemini's generateContent reach every model. */

import { defineFace } from "@sluice/kit";
import { errorReply } from "./reply/errors.ts";
import { MODELS } from "./reply/models.ts";
import { readRequest, type State } from "./request/read.ts";
import { EventStream } from "./reply/stream.ts";
import { wholeReply } from "./reply/whole.ts";

export const gemini = defineFace<Readonly<Record<never, never>>>({
  name: "gemini",
  stability: "beta",
  summary: "Gemini's generateContent, streamGenerateContent and countTokens, for every model.",
  config: { type: "object", properties: {} },
  paths: [
    "POST /v1beta/models/{model...}:generateContent",
    "POST /v1beta/models/{model...}:streamGenerateContent",
    "POST /v1beta/models/{model...}:countTokens",
    "GET /v1beta/models",
    "GET /v1beta/models/{model...}",
  ],
  create: () => ({
    dialect: "google",
    // Clients send them to every model.
    hints: ["reasoning_effort", "thinking", "verbosity"],
    keyHeaders: ["x-goog-api-key"],
    // White space between events: older clients of the API take a comment for a broken event.
    heartbeat: "\r\n\r\n",
    read: readRequest,
    whole: (reply, state, context) => wholeReply(reply, state as State, context),
    stream: (state, context) => new EventStream(state as State, context),
    error: errorReply,
    count: (inputTokens) => ({ totalTokens: inputTokens }),
    models: MODELS,
  }),
});

export default [gemini];
