/** Chat requests as Cohere's v2 chat (docs.cohere.com/reference/chat; its SDK 5.20, `v2.chat`). */

import {
  BASIC_PARAMETERS,
  Chat,
  invalidField,
  Members,
  offeredTools,
  Reference,
  Schema,
  Reasoning,
  ToolNames,
} from "@sluice/kit/dialect";
import type { Stages } from "@sluice/kit";
import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import { messagesOf } from "./messages.ts";
import { OUTPUT_SCHEMA } from "./schema-subset.ts";

/**
 * Parameters of the reference dialect that the API has a way to say: of chat, then of embeddings.
 */
export const PARAMETERS: readonly string[] = [
  ...BASIC_PARAMETERS.filter((name) => name !== "parallel_tool_calls"),
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "reasoning_effort",
  "thinking",
  "encoding_format",
  "dimensions",
];

/** Members of the API's own that a client may send beside them. */
const NATIVE = [
  "documents",
  "citation_options",
  "safety_mode",
  "strict_tools",
  "k",
  "p",
  "priority",
  "raw_prompting",
];
/** docs.cohere.com/docs/tool-use-overview: names are those of functions. */
const TOOL_NAME: ToolNames.NameRule = {
  character: /[a-zA-Z0-9_-]/,
  first: /[a-zA-Z_]/,
  maxLength: 64,
};
const MAX_STOPS = 5;
/**
 * `p` lies within 0.01 and 0.99, and 0.75 is meant where it is absent: so 1 is sent as the nearest.
 */
const MIN_P = 0.01;
const MAX_P = 0.99;
/** The names of a request's tools, both ways. */
export function toolNames(request: ProviderRequest): ToolNames.NameMap {
  return ToolNames.map(request, TOOL_NAME);
}

/** The body of a chat request, in stages. */
export function* chatBody(request: ProviderRequest): Stages.Of<JsonObject> {
  const { model } = request.target;
  const chat = yield* Chat.requestStages(request, { parameters: PARAMETERS, native: NATIVE });
  const names = toolNames(request);
  const converted = yield* messagesOf(chat.system, chat.turns, {
    names,
    refuse: chat.refuse,
    isThinking: /reasoning|command-a-plus/.test(model),
  });
  if (converted.messages.length === 0)
    throw invalidField("messages", "a conversation with at least one message that is not empty");
  const { documents: native, ...rest } = chat.native;
  const documents = [
    ...(Array.isArray(native) ? (native as readonly JsonValue[]) : []),
    ...converted.documents,
  ];
  return {
    model,
    messages: converted.messages,
    ...(documents.length === 0 ? {} : { documents }),
    ...sampling(chat),
    ...tools(chat, names),
    ...responseFormat(chat),
    ...thought(chat),
    ...rest,
    ...(request.stream ? { stream: true } : {}),
  };
}

function sampling(chat: Chat.Request): JsonObject {
  const { temperature, topP, maxTokens, stop, seed, presencePenalty, frequencyPenalty, refuse } =
    chat;
  if (stop.length > MAX_STOPS) refuse("stop", `more than ${MAX_STOPS} stop sequences`);
  const penalty = (name: string, value: number | undefined): JsonObject => {
    if (value === undefined) return {};
    if (value < 0 || value > 1) refuse(name, `a ${name} outside of 0 to 1`);
    return { [name]: value };
  };
  return {
    ...Members.present({
      temperature,
      p: topP === undefined ? undefined : Math.min(MAX_P, Math.max(MIN_P, topP)),
      max_tokens: maxTokens,
      stop_sequences: stop.length === 0 ? undefined : stop,
      seed,
    }),
    ...penalty("presence_penalty", presencePenalty),
    ...penalty("frequency_penalty", frequencyPenalty),
  };
}

function tools(chat: Chat.Request, names: ToolNames.NameMap): JsonObject {
  const { tools: offered, choice } = offeredTools(chat);
  const functions = offered.filter((tool): tool is Chat.ToolDefinition => tool.kind === "function");
  if (functions.length === 0) return {};
  // A choice has no names in this API: only the allowed tools are offered.
  const kept =
    choice?.mode === "named" ? functions.filter(({ name }) => name === choice.name) : functions;
  const isStrict = functions.some((tool) => tool.strict === true);
  return Members.present({
    tools: kept.map(({ name, description, schema }) =>
      Reference.functionTool({ name, description, schema, strict: undefined }, names),
    ),
    strict_tools: isStrict ? true : undefined,
    tool_choice:
      choice === undefined || choice.mode === "auto"
        ? undefined
        : choice.mode === "none"
          ? "NONE"
          : "REQUIRED",
  });
}

function responseFormat({ responseFormat: asked, refuse }: Chat.Request): JsonObject {
  if (asked === undefined) return {};
  if (asked.type === "json_object") return { response_format: { type: "json_object" } };
  const schema = Schema.lower(asked.schema, OUTPUT_SCHEMA, asked.schemaPath, refuse);
  return { response_format: { type: "json_object", json_schema: schema } };
}

function thought({ thinking, reasoningEffort, refuse }: Chat.Request): JsonObject {
  if (thinking !== undefined) {
    const { budget_tokens: budget, ...members } = thinking;
    return { thinking: Members.present({ ...members, token_budget: budget }) };
  }
  if (reasoningEffort === undefined) return {};
  if (reasoningEffort === "none") return { thinking: { type: "disabled" } };
  // `max` has no bound.
  const budget = reasoningEffort === "max" ? undefined : Reasoning.budget(reasoningEffort, refuse);
  return { thinking: Members.present({ type: "enabled", token_budget: budget }) };
}
