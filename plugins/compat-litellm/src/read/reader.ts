/** Reads LiteLLM's fields and headers of a request, and says them in the gateway's words. */

import type { EdgeReading, EdgeRequest, Host, JsonObject, JsonValue } from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import { answerInstead } from "./answer.ts";
import { readFallbacks } from "./fallbacks.ts";
import { headerSeconds, headerTags, headerWhole, headerObject, headerText } from "./headers.ts";
import { secondsOf, wholeOf } from "./numbers.ts";

/** What a reading is collected in. */
interface Draft {
  fields: Record<string, JsonValue>;
  taken: string[];
  metadata: Record<string, JsonValue>;
}

/** The reader of a generation. */
export function createReader({
  models,
}: Pick<Host, "models">): (request: EdgeRequest) => EdgeReading | undefined {
  const isConfigured = (id: string): boolean => models.find(id)?.entry === id;
  return (request) => {
    const answer = request.mayAnswer ? answerInstead(request, isConfigured) : undefined;
    if (answer !== undefined) return { answer };
    const draft: Draft = { fields: {}, taken: [], metadata: {} };
    readTimes(request, draft);
    readFallbacks(request.body, draft);
    readNotes(request, draft);
    const tags = [...headerTags(request, "x-litellm-tags"), ...headerTags(request, "tags")];
    const endUser =
      headerText(request, "x-litellm-customer-id") ?? headerText(request, "x-litellm-end-user-id");
    const { fields, taken, metadata } = draft;
    return {
      ...(isEmpty(fields) ? {} : { fields }),
      ...(taken.length === 0 ? {} : { taken }),
      ...(tags.length === 0 ? {} : { tags }),
      ...(endUser === undefined ? {} : { endUser }),
      ...(isEmpty(metadata) ? {} : { metadata }),
    };
  };
}

/**
 * Times and retries. A header wins over the body, the limit of a stream over that of any request. A
 * fraction of a second is rounded up: `timeout: 0.1` is one second.
 */
function readTimes(request: EdgeRequest, draft: Draft): void {
  const { body } = request;
  const isStream = body.stream === true;
  const named =
    (isStream ? headerSeconds(request, "x-litellm-stream-timeout") : undefined) ??
    headerSeconds(request, "x-litellm-timeout") ??
    (isStream ? secondsOf(body.stream_timeout) : undefined) ??
    secondsOf(body.timeout) ??
    secondsOf(body.request_timeout);
  if (named !== undefined) draft.fields["timeout"] = named;
  for (const name of ["stream_timeout", "request_timeout"])
    if (body[name] !== undefined) draft.taken.push(name);
  const retries =
    headerWhole(request, "x-litellm-num-retries") ??
    (body.num_retries === undefined ? wholeOf(body.max_retries) : undefined);
  if (retries !== undefined) draft.fields["num_retries"] = retries;
  if (body.max_retries !== undefined) draft.taken.push("max_retries");
}

/** Ids of sessions, traces and calls, as the body and the headers have them. */
const NOTED: readonly (readonly [note: string, field: string, headers: readonly string[]])[] = [
  ["session_id", "litellm_session_id", ["x-litellm-trace-id", "x-litellm-session-id"]],
  ["trace_id", "litellm_trace_id", ["x-litellm-trace-id", "x-litellm-session-id"]],
  ["litellm_call_id", "litellm_call_id", ["x-litellm-call-id"]],
];

const MAX_NOTE = 512;

function readNotes(request: EdgeRequest, draft: Draft): void {
  const { body } = request;
  for (const [note, field, headers] of NOTED) {
    const said = body[field];
    const found =
      typeof said === "string"
        ? said
        : headers.map((name) => headerText(request, name)).find((text) => text !== undefined);
    if (said !== undefined) draft.taken.push(field);
    if (found !== undefined && found !== "") draft.metadata[note] = found.slice(0, MAX_NOTE);
  }
  const spend = headerObject(request, "x-litellm-spend-logs-metadata");
  if (spend !== undefined) draft.metadata["spend_logs_metadata"] = spend;
  const { metadata } = body;
  if (typeof metadata === "string" && request.operation !== "passthrough") {
    const parsed = objectIn(metadata);
    if (parsed !== undefined) draft.fields["metadata"] = parsed;
  }
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text) as JsonValue;
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}
