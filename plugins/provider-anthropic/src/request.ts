/**
 * Chat requests as Anthropic's messages requests (platform.claude.com/docs/en/api/messages; the
 * types of its SDK 1.11.0).
 */

import {
  BASIC_PARAMETERS,
  Chat,
  invalidField,
  Members,
  offeredTools,
  Schema,
  Reasoning,
  ToolNames,
} from "@sluice/kit/dialect";
import type { Stages } from "@sluice/kit";
import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import { marker, messagesOf, textBlock } from "./blocks.ts";
import { maxOutputTokens, thinkingOf } from "./models.ts";
import { OUTPUT_SCHEMA } from "./schema-subset.ts";

/** Parameters of the reference dialect that the API has a way to say. */
export const PARAMETERS: readonly string[] = [
  ...BASIC_PARAMETERS,
  "reasoning_effort",
  "thinking",
  "service_tier",
  "user",
];

/** Members of the API's own that a client may send beside them. */
const NATIVE = [
  "top_k",
  "cache_control",
  "container",
  "context_management",
  "inference_geo",
  "speed",
];
const TOOL_NAME: ToolNames.NameRule = { character: /[a-zA-Z0-9_-]/, maxLength: 64 };
const EFFORTS = Members.table<string>({
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
});

function readRequest(request: ProviderRequest): Stages.Of<Chat.Request> {
  // The API's own tools carry a date in their type: `web_search_20250305`.
  return Chat.requestStages(request, {
    parameters: PARAMETERS,
    native: NATIVE,
    needsTurn: true,
    keepsOrder: true,
    takesNativeBlocks: true,
    isNativeTool: (type) => /_\d{8}$/.test(type),
  });
}

/** The names of a request's tools, both ways. */
export function toolNames(request: ProviderRequest): ToolNames.NameMap {
  return ToolNames.map(request, TOOL_NAME);
}

/** The body of the call, and parameters that it does not honour. */
export interface MessagesCall {
  readonly body: JsonObject;
  readonly dropped: readonly string[];
}

/** The body to send, in stages. `maxTokens` is for clients that set none. */
export function* messagesBody(
  request: ProviderRequest,
  maxTokens: number | undefined,
): Stages.Of<MessagesCall> {
  const chat = yield* readRequest(request);
  if (chat.turns.length === 0)
    throw invalidField("messages", "a conversation with at least one message that is not empty");
  const { model } = request.target;
  const names = toolNames(request);
  const limit = chat.maxTokens ?? maxTokens ?? maxOutputTokens(model);
  const body: Record<string, JsonValue | undefined> = {
    model,
    max_tokens: limit,
    ...(chat.system.length === 0 ? {} : { system: chat.system.map(textBlock) }),
    messages: yield* messagesOf(chat.turns, names, chat.refuse),
    ...tools(chat, names),
    ...sampling(chat),
    ...thought(chat, model, limit),
    ...(chat.user === undefined ? {} : { metadata: { user_id: chat.user } }),
    ...chat.native,
  };
  const format = outputFormat(chat);
  if (format !== undefined)
    body.output_config = { ...(body.output_config as JsonObject | undefined), format };
  const isThinking = (body.thinking as JsonObject | undefined)?.type === "enabled";
  if (isThinking && chat.temperature !== undefined && chat.temperature !== 1) {
    chat.refuse("temperature", "a temperature other than 1 beside thinking");
  }
  if (request.stream) body.stream = true;
  return { body: body as JsonObject, dropped: chat.dropped };
}

function sampling(chat: Chat.Request): JsonObject {
  const { temperature, topP, stop, body, refuse } = chat;
  if (temperature !== undefined && (temperature < 0 || temperature > 1))
    refuse("temperature", "a temperature outside of 0 to 1");
  const stops = stop.length === 0 ? undefined : stop;
  return {
    ...Members.present({ temperature, top_p: topP, stop_sequences: stops }),
    ...serviceTier(body.service_tier, chat),
  };
}

function serviceTier(tier: JsonValue | undefined, { refuse }: Chat.Request): JsonObject {
  if (tier === undefined || tier === null) return {};
  if (tier === "auto") return { service_tier: "auto" };
  if (tier === "default" || tier === "standard_only") return { service_tier: "standard_only" };
  return refuse("service_tier", `the service tier ${String(tier).slice(0, 64)}`);
}

function tools(chat: Chat.Request, names: ToolNames.NameMap): JsonObject {
  const { tools: offered, choice } = offeredTools(chat);
  if (offered.length === 0) return {};
  const list = offered.map((tool) =>
    tool.kind === "native" ? tool.value : toolOf(tool, names, chat.refuse),
  );
  const serial = chat.parallel === false ? { disable_parallel_tool_use: true } : {};
  switch (choice?.mode) {
    case undefined:
      return {
        tools: list,
        ...(chat.parallel === false ? { tool_choice: { type: "auto", ...serial } } : {}),
      };
    case "none":
      return { tools: list, tool_choice: { type: "none" } };
    case "auto":
      return { tools: list, tool_choice: { type: "auto", ...serial } };
    case "required":
      return { tools: list, tool_choice: { type: "any", ...serial } };
    case "named":
      return {
        tools: list,
        tool_choice: { type: "tool", name: names.toUpstream(choice.name), ...serial },
      };
    default:
      return choice satisfies never;
  }
}

function toolOf(
  tool: Chat.ToolDefinition,
  names: ToolNames.NameMap,
  refuse: Chat.Request["refuse"],
): JsonObject {
  const { name, description, schema, strict, schemaPath } = tool;
  if (schema.type !== "object")
    refuse(`${schemaPath}.type`, "a tool whose arguments are no object");
  return {
    ...Members.present({ name: names.toUpstream(name), description, input_schema: schema, strict }),
    ...marker(tool),
  };
}

/**
 * Thinking. The API's own form is sent unchanged; an effort is sent in the form that the model
 * takes. It is left out where the API would refuse it: beside a forced choice of tools, and in a
 * turn whose signed thoughts the client lost.
 */
function thought(chat: Chat.Request, model: string, maxTokens: number): JsonObject {
  const { thinking, reasoningEffort: effort, refuse } = chat;
  const way = thinkingOf(model);
  const isWithheld = isForced(chat) || (way === "budget" && Reasoning.isLost(chat.turns));
  if (thinking !== undefined) {
    const output = effort === undefined ? {} : { output_config: { effort } };
    if (!isWithheld || thinking.type === "disabled") return { thinking, ...output };
    chat.dropped.push("thinking");
    return output;
  }
  if (effort === undefined) return {};
  if (effort === "none") return way === "none" ? {} : { thinking: { type: "disabled" } };
  if (isWithheld && way !== "none") chat.dropped.push("reasoning_effort");
  switch (way) {
    case "none":
      return refuse("reasoning_effort", "an effort");
    case "adaptive":
      return {
        ...(isWithheld ? {} : { thinking: { type: "adaptive" } }),
        output_config: {
          effort:
            EFFORTS[effort] ?? refuse("reasoning_effort", `the effort ${effort.slice(0, 32)}`),
        },
      };
    case "budget":
      return isWithheld
        ? {}
        : {
            thinking: {
              type: "enabled",
              budget_tokens: Reasoning.budget(effort, refuse, maxTokens),
            },
          };
  }
}

/** Whether a tool must be called: the API refuses thoughts beside that. */
function isForced(chat: Chat.Request): boolean {
  const { tools: offered, choice } = offeredTools(chat);
  return offered.length > 0 && (choice?.mode === "required" || choice?.mode === "named");
}

function outputFormat({ responseFormat: format, refuse }: Chat.Request): JsonObject | undefined {
  if (format === undefined) return undefined;
  if (format.type === "json_object") return refuse("response_format", "JSON without a schema");
  return {
    type: "json_schema",
    schema: Schema.lower(format.schema, OUTPUT_SCHEMA, format.schemaPath, refuse),
  };
}
