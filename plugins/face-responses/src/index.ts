/** @sluice/face-responses: OpenAI Responses for every model. */

import { defineFace, Stages } from "@sluice/kit";
import type {
  ClientRequest,
  Face,
  FaceMeans,
  FaceRequest,
  GatewayError,
  JsonDocument,
  JsonObject,
} from "@sluice/contract";
import { codeOf, messageOf, paramOf } from "./codes.ts";
import { keeping } from "./keeping/index.ts";
import { ResponseRelay, SEALED } from "./relay.ts";
import { responseOf } from "./reply/response.ts";
import { ResponseStream } from "./reply/stream.ts";
import { wholeResponse } from "./reply/whole.ts";
import { COMPACT, readCompaction } from "./request/compaction.ts";
import { readRequest } from "./request/read.ts";
import type { ResponsesState } from "./state.ts";

export default defineFace<JsonObject>({
  name: "responses",
  stability: "experimental",
  summary: "OpenAI Responses: Codex, the OpenAI SDKs and the Agents SDK, for every model.",
  // Codex may be configured without /v1.
  paths: [
    "POST /v1/responses",
    "POST /responses",
    "POST /v1/responses/compact",
    "POST /responses/compact",
    "POST /v1/responses/input_tokens",
    "POST /responses/input_tokens",
    "GET /v1/responses/{response_id}",
    "DELETE /v1/responses/{response_id}",
    "GET /v1/responses/{response_id}/input_items",
    "POST /v1/responses/{response_id}/cancel",
  ],
  config: { type: "object", properties: {} },
  create: (): Face<ResponsesState> => ({
    dialect: "openai/responses",
    // Clients send them to every model.
    hints: ["reasoning_effort", "thinking", "verbosity"],
    nativeHeaders: ["openai-beta"],
    nativeReplies: { modelAt: [["response", "model"], ["model"]], edits: SEALED },
    heartbeat: ": keep-alive\n\n",
    read: (document, client, means) => Stages.atOnce(readInStages(document, client, means)),
    readInStages,
    whole: wholeResponse,
    stream: (state, context) => new ResponseStream(state, context),
    begun: (state, context) => responseOf(state, context, QUEUED),
    relay: (state, context) => new ResponseRelay(state, context),
    error: errorReply,
    count: (inputTokens) => ({ object: "response.input_tokens", input_tokens: inputTokens }),
    keeping,
  }),
});

function readInStages(
  { value }: JsonDocument,
  { path }: ClientRequest,
  means: FaceMeans,
): Stages.Of<FaceRequest<ResponsesState>> {
  return path.endsWith(COMPACT) ? readCompaction(value, means) : readRequest(value, means);
}

const QUEUED = { ending: { status: "queued" }, output: [], usage: null } as const;

function errorReply(error: GatewayError): { readonly status: number; readonly body: JsonObject } {
  const { status, type, provider } = error;
  const body = {
    message: messageOf(error),
    type,
    param: paramOf(error),
    code: codeOf(error),
    ...(provider === undefined ? {} : { provider: { ...provider } }),
  };
  return { status, body: { error: body } };
}
