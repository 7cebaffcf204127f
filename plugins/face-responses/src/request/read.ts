/** A request of the Responses API in the reference dialect. */

import type { Stages } from "@sluice/kit";
import { invalidField } from "@sluice/kit/dialect";
import type { FaceMeans, FaceRequest, JsonObject } from "@sluice/contract";
import type { ResponsesState } from "../state.ts";
import { echoOf } from "./echo.ts";
import {
  asksFor,
  asksForSummary,
  checkState,
  ENVELOPES,
  flagIn,
  ignoredFields,
  LOGPROBS,
  nativeFields,
  renamedFields,
  sameFields,
} from "./fields.ts";
import { declareTools, readInput } from "./items.ts";
import { Notes } from "./notes.ts";
import { toolChoice } from "./tool-choice.ts";
import { ToolTable } from "./tools.ts";

/**
 * Reads a request, in stages: `input` may be long. Throws `invalid_field` with the client's path.
 */
export function* readRequest(
  body: JsonObject,
  means: FaceMeans,
): Stages.Of<FaceRequest<ResponsesState>> {
  const { model } = body;
  if (typeof model !== "string" || model === "") throw invalidField("model", "the id of a model");
  const stream = flagIn(body, "stream") === true;
  checkState(body);
  const notes = new Notes();
  const tools = new ToolTable(notes);
  tools.declareAll(body.tools, "tools");
  declareTools(body.input, tools, means);
  const native = nativeFields(body, notes);
  const { messages, thoughtsOf } = yield* readInput(body, tools, notes, means);
  const used = toolFields(body, tools, notes);
  const { nativeOnly, items, sealed } = notes;
  const dropped = [...ignoredFields(body), ...notes.dropped];
  const echo = echoOf(body);
  return {
    body: {
      ...sameFields(body),
      ...renamedFields(body),
      messages: messages.length === 0 ? [{ role: "user", content: "" }] : messages,
      ...used,
      ...native,
      ...(items.length === 0 ? {} : { input: items }),
      stream,
      ...(stream ? { stream_options: { include_usage: true } } : {}),
    },
    state: {
      echo: means.replaced === undefined ? echo : { ...echo, ...means.replaced },
      names: tools.names(),
      hasSummary: asksForSummary(body),
      hasEnvelopes: asksFor(body, ENVELOPES),
      hasLogprobs: asksFor(body, LOGPROBS),
    },
    ...(dropped.length === 0 ? {} : { dropped }),
    ...(nativeOnly.length === 0 ? {} : { nativeOnly }),
    ...(sealed.length === 0 ? {} : { sealed }),
    ...(thoughtsOf.length === 0 ? {} : { thoughtsOf }),
  };
}

/** Chat upstreams refuse a choice among no tools, so without tools there is none. */
function toolFields(body: JsonObject, tools: ToolTable, notes: Notes): JsonObject {
  const offered = [...tools.functions(), ...tools.native];
  const choice = toolChoice(body.tool_choice, tools, notes);
  const parallel = flagIn(body, "parallel_tool_calls");
  if (offered.length === 0 && choice === "required")
    throw invalidField("tool_choice", "auto or none, because no tool is left that the client runs");
  const hasChoice = choice !== undefined && (offered.length > 0 || typeof choice === "object");
  return {
    ...(offered.length === 0 ? {} : { tools: offered }),
    ...(hasChoice ? { tool_choice: choice } : {}),
    ...(offered.length === 0 || parallel === undefined ? {} : { parallel_tool_calls: parallel }),
  };
}
