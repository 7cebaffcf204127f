/**
 * Requests as Mistral's chat completions, which refuse what they do not know (its SDK 1.10,
 * `ChatCompletionRequest`).
 */

import {
  BASIC_PARAMETERS,
  Chat,
  Embeddings,
  invalidField,
  Members,
  offeredTools,
  Reference,
  refusalsOf,
  ToolNames,
} from "@sluice/kit/dialect";
import type { Stages } from "@sluice/kit";
import { EmbeddingCalls } from "@sluice/kit/openai";
import type { JsonDocument, JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import { messagesOf } from "./messages.ts";
import { takesThoughts } from "./models.ts";

/**
 * Parameters of the reference dialect that the API has a way to say: of chat, then of embeddings.
 */
export const PARAMETERS: readonly string[] = [
  ...BASIC_PARAMETERS,
  "n",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "prediction",
  "reasoning_effort",
  "prompt_cache_key",
  "encoding_format",
  "dimensions",
];

/** Members of the API's own that a client may send beside them. */
const NATIVE = ["safe_prompt", "prompt_mode", "min_tokens", "random_seed", "guardrails"];
const NATIVE_TOOLS = new Set([
  "web_search",
  "web_search_premium",
  "code_interpreter",
  "image_generation",
  "document_library",
]);
/**
 * Its own error: "must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length
 * of 64".
 */
const TOOL_NAME: ToolNames.NameRule = { character: /[a-zA-Z0-9_-]/, maxLength: 64 };
/**
 * Efforts of the API (`ReasoningEffort` of @mistralai/mistralai 2.7.0), and the highest for `max`.
 */
const EFFORTS = Members.table<string>({
  none: "none",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "xhigh",
});

/** The names of a request's tools, both ways. */
export function toolNames(request: ProviderRequest): ToolNames.NameMap {
  return ToolNames.map(request, TOOL_NAME);
}

/** The body of a chat request, in stages. */
export function* chatBody(request: ProviderRequest): Stages.Of<JsonObject> {
  const { model } = request.target;
  const chat = yield* Chat.requestStages(request, {
    parameters: PARAMETERS,
    native: NATIVE,
    isNativeTool: (type) => NATIVE_TOOLS.has(type),
  });
  const names = toolNames(request);
  const terms = { names, refuse: chat.refuse, takesThoughts: takesThoughts(model) };
  const messages = yield* messagesOf(chat.system, chat.turns, terms);
  if (messages.length === 0)
    throw invalidField("messages", "a conversation with at least one message that is not empty");
  return Members.present({
    model,
    messages,
    temperature: chat.temperature,
    top_p: chat.topP,
    max_tokens: chat.maxTokens,
    n: typeof chat.body.n === "number" && chat.body.n !== 1 ? chat.body.n : undefined,
    stop: chat.stop.length === 0 ? undefined : chat.stop,
    random_seed: chat.seed,
    presence_penalty: chat.presencePenalty,
    frequency_penalty: chat.frequencyPenalty,
    prediction: chat.body.prediction ?? undefined,
    prompt_cache_key: chat.body.prompt_cache_key ?? undefined,
    reasoning_effort: effort(chat),
    response_format: format(chat),
    metadata: chat.body.metadata ?? undefined,
    ...tools(chat, names),
    ...chat.native,
    stream: request.stream ? true : undefined,
  });
}

function effort({ reasoningEffort, refuse }: Chat.Request): string | undefined {
  if (reasoningEffort === undefined) return undefined;
  return (
    EFFORTS[reasoningEffort] ??
    refuse("reasoning_effort", `the effort ${reasoningEffort.slice(0, 32)}`)
  );
}

function format({ responseFormat: asked }: Chat.Request): JsonObject | undefined {
  if (asked === undefined || asked.type === "json_object") return asked as JsonObject | undefined;
  const { name, description, schema, strict } = asked;
  return {
    type: "json_schema",
    json_schema: Members.present({ name, description, schema, strict }),
  };
}

function tools(chat: Chat.Request, names: ToolNames.NameMap): JsonObject {
  const { tools: offered, choice } = offeredTools(chat);
  if (chat.tools.length === 0) return {};
  return Members.present({
    tools: offered.map((tool) =>
      tool.kind === "native" ? tool.value : Reference.functionTool(tool, names),
    ),
    tool_choice: choice === undefined ? undefined : choiceOf(choice, names),
    parallel_tool_calls: chat.parallel,
  });
}

function choiceOf(
  choice: NonNullable<Chat.OfferedTools["choice"]>,
  names: ToolNames.NameMap,
): JsonValue {
  switch (choice.mode) {
    case "auto":
    case "none":
      return choice.mode;
    case "required":
      return "any";
    case "named":
      return { type: "function", function: { name: names.toUpstream(choice.name) } };
    default:
      return choice satisfies never;
  }
}

/**
 * The body of an embeddings request: texts alone, and `dimensions` by the API's own name. Throws
 * for tokens.
 */
export function embeddingsBody(request: ProviderRequest): JsonDocument {
  const body = request.document.value;
  const { dimensions } = body;
  Embeddings.texts({ body, refuse: refusalsOf(request) });
  const changes = {
    dimensions: undefined,
    output_dimension: dimensions ?? undefined,
    user: undefined,
  };
  return EmbeddingCalls.encode(request, { formats: ["float"] }).with(
    dimensions === undefined ? { user: undefined } : changes,
  );
}
