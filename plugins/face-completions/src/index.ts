/** @sluice/face-completions: clients of the legacy completions API reach every chat model. */

import { defineFace } from "@sluice/kit";
import { ChunkStream, errorReply, wholeReply } from "./reply.ts";
import { readRequest } from "./request.ts";

export const completions = defineFace<Readonly<Record<never, never>>>({
  name: "completions",
  stability: "beta",
  summary: "Legacy completions, answered by chat models: one prompt is one message of the user.",
  config: { type: "object", properties: {} },
  paths: ["POST /v1/completions", "POST /completions"],
  create: () => ({
    dialect: "openai/completions",
    heartbeat: ": ping\n\n",
    read: readRequest,
    whole: (reply, _state, context) => wholeReply(reply, context),
    stream: (_state, context) => new ChunkStream(context),
    error: errorReply,
  }),
});

export default [completions];
