/** A request of the Responses API in the reference dialect. */

import { invalidField } from "@sluice/kit/dialect";
import type { FaceRequest, JsonObject } from "@sluice/contract";
import type { ResponsesState } from "../state.ts";
import { echoOf } from "./echo.ts";
import {
  asksFor,
  asksForSummary,
  checkState,
  ENVELOPES,
  ignoredFields,
  LOGPROBS,
  renamedFields,
  sameFields,
} from "./fields.ts";
import { declareTools, readInput } from "./items.ts";
import { toolChoice } from "./tool-choice.ts";
import { ToolTable } from "./tools.ts";

/** Reads a request. Throws `invalid_field` with the client's path. */
export function readRequest(body: JsonObject): FaceRequest<ResponsesState> {
  const { model, stream = false } = body;
  if (typeof model !== "string" || model === "") throw invalidField("model", "the id of a model");
  if (stream !== null && typeof stream !== "boolean") throw invalidField("stream", "true or false");
  checkState(body);
  const tools = new ToolTable();
  tools.declareAll(body.tools, "tools");
  declareTools(body.input, tools);
  const dropped: string[] = [];
  const messages = readInput(body, tools, dropped);
  return {
    body: {
      ...sameFields(body),
      ...renamedFields(body),
      messages,
      ...toolFields(body, tools),
      stream: stream === true,
      ...(stream === true ? { stream_options: { include_usage: true } } : {}),
    },
    state: {
      echo: echoOf(body),
      names: tools.names(),
      hasSummary: asksForSummary(body),
      hasEnvelopes: asksFor(body, ENVELOPES),
      hasLogprobs: asksFor(body, LOGPROBS),
    },
    dropped: [...ignoredFields(body), ...tools.dropped, ...dropped],
  };
}

/** Chat upstreams refuse a choice among no tools, so without tools there is none. */
function toolFields(body: JsonObject, tools: ToolTable): JsonObject {
  const functions = tools.functions();
  const choice = toolChoice(body.tool_choice, tools);
  const parallel = body.parallel_tool_calls ?? undefined;
  if (parallel !== undefined && typeof parallel !== "boolean")
    throw invalidField("parallel_tool_calls", "true or false");
  if (functions.length > 0)
    return {
      tools: functions,
      ...(choice === undefined ? {} : { tool_choice: choice }),
      ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
    };
  if (choice === "required")
    throw invalidField(
      "tool_choice",
      "auto or none in a request without tools that the client runs",
    );
  return {};
}
