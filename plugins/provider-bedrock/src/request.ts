/**
 * Chat requests as Converse requests (`ConverseRequest` of @aws-sdk/client-bedrock-runtime
 * 3.1162.0).
 */

import {
  BASIC_PARAMETERS,
  Chat,
  invalidField,
  Members,
  offeredTools,
  Schema,
  ToolNames,
} from "@sluice/kit/dialect";
import { isObject, type Stages } from "@sluice/kit";
import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import { cachePoint, createBlockWriter } from "./blocks.ts";
import { cachePoints, isNova, mayBeClaude, supports } from "./models.ts";
import { novaSchema, STRICT_SCHEMA } from "./schema-subset.ts";
import { thoughtOf } from "./thinking.ts";

/** Parameters of the reference dialect's chat that the API has a way to say. */
export const CHAT_PARAMETERS: readonly string[] = [
  ...BASIC_PARAMETERS.filter((name) => name !== "parallel_tool_calls"),
  "reasoning_effort",
  "thinking",
  "service_tier",
];

/** Members of the API's own that a client may send beside them. */
const NATIVE = [
  "additionalModelRequestFields",
  "additionalModelResponseFieldPaths",
  "guardrailConfig",
  "performanceConfig",
  "requestMetadata",
];
const TOOL_NAME: ToolNames.NameRule = { character: /[a-zA-Z0-9_-]/, maxLength: 64 };
const TIERS = new Set(["default", "flex", "priority", "reserved"]);

/** The names of a request's tools, both ways. */
export function toolNames(request: ProviderRequest): ToolNames.NameMap {
  return ToolNames.map(request, TOOL_NAME);
}

/** The body of the call, and parameters that it does not honour. */
export interface ConverseCall {
  readonly body: JsonObject;
  readonly dropped: readonly string[];
}

/** The body to send, in stages. `maxTokens` is what the model can write, where that is known. */
export function* converseBody(
  request: ProviderRequest,
  maxTokens: number | undefined,
): Stages.Of<ConverseCall> {
  const { model } = request.target;
  const chat = yield* Chat.requestStages(request, {
    parameters: CHAT_PARAMETERS,
    native: NATIVE,
    needsTurn: true,
    // Claude refuses signed thoughts in another order than its own.
    ...(mayBeClaude(model) ? { keepsOrder: true } : {}),
  });
  const names = toolNames(request);
  const blocks = createBlockWriter(chat, model, names);
  const messages = yield* blocks.messages();
  if (messages.length === 0)
    throw invalidField("messages", "a conversation with at least one message that is not empty");
  if (messages[0]?.role === "assistant") {
    chat.refuse(
      chat.turns[0]?.parts[0]?.path ?? "messages[0]",
      "a conversation that the assistant begins",
    );
  }
  const system = blocks.system();
  const thought = thoughtOf(chat, model, maxTokens);
  const fields = {
    ...thought.fields,
    ...(isObject(chat.native.additionalModelRequestFields)
      ? chat.native.additionalModelRequestFields
      : {}),
  };
  const inference = inferenceConfig(chat, thought.maxTokens);
  const output = { ...outputFormat(chat), ...thought.output };
  const body = {
    messages,
    ...filled("system", system),
    ...filled("inferenceConfig", inference),
    ...toolConfig(chat, names, model),
    ...filled("outputConfig", output),
    ...serviceTier(chat),
    ...metadata(request, chat),
    ...chat.native,
    ...filled("additionalModelRequestFields", fields),
  };
  return { body, dropped: chat.dropped };
}

/** An object or a list under its name, where it holds anything. */
function filled(name: string, value: JsonObject | readonly JsonValue[]): JsonObject {
  return Object.keys(value).length === 0 ? {} : { [name]: value };
}

function inferenceConfig(
  { temperature, topP, stop }: Chat.Request,
  maxTokens: number | undefined,
): JsonObject {
  return Members.present({
    maxTokens,
    temperature,
    topP,
    stopSequences: stop.length === 0 ? undefined : stop,
  });
}

function serviceTier({ body, refuse }: Chat.Request): JsonObject {
  const tier = body.service_tier;
  if (tier === undefined || tier === null || tier === "auto") return {};
  if (typeof tier === "string" && TIERS.has(tier)) return { serviceTier: { type: tier } };
  return refuse("service_tier", `the service tier ${String(tier).slice(0, 64)}`);
}

/** Metadata that a target may have becomes the keys that invocation logs are filtered by: texts. */
function metadata({ target, document }: ProviderRequest, { native }: Chat.Request): JsonObject {
  const { metadata: notes } = document.value;
  if (target.forwardMetadata !== true || native.requestMetadata !== undefined || !isObject(notes))
    return {};
  const texts = Object.entries(notes).filter(([, value]) => typeof value === "string");
  return texts.length === 0 ? {} : { requestMetadata: Object.fromEntries(texts) };
}

/**
 * Tools and their choice. The API has no word for `none`: tools are withheld then, unless the
 * conversation holds calls, which the API takes with tools alone. For the same reason a history of
 * calls without tools brings tools of its own.
 */
function toolConfig(chat: Chat.Request, names: ToolNames.NameMap, model: string): JsonObject {
  const { tools: kept, choice } = offeredTools(chat);
  const { refuse } = chat;
  const called = calledNames(chat);
  if (choice?.mode === "none" && called.size === 0) return {};
  const offered = kept.filter((tool): tool is Chat.ToolDefinition => tool.kind === "function");
  const known = new Set(offered.map(({ name }) => name));
  const points = cachePoints(model);
  const tools = offered.flatMap((tool) => [
    { toolSpec: toolSpec(tool, names, model, refuse) },
    ...(points.tools ? cachePoint(tool, points.ttl) : []),
  ]);
  if (chat.tools.length === 0) {
    for (const name of called)
      if (!known.has(name)) tools.push({ toolSpec: pastTool(names.toUpstream(name)) });
  }
  if (tools.length === 0) return {};
  const toolChoice = choiceOf(choice, names);
  return { toolConfig: { tools, ...(toolChoice === undefined ? {} : { toolChoice }) } };
}

function choiceOf(
  choice: Chat.OfferedTools["choice"],
  names: ToolNames.NameMap,
): JsonObject | undefined {
  switch (choice?.mode) {
    case "required":
      return { any: {} };
    case "named":
      return { tool: { name: names.toUpstream(choice.name) } };
    default:
      // Not every model has the choice. Without it, models behave as with `auto`.
      return undefined;
  }
}

function calledNames({ turns }: Chat.Request): Set<string> {
  const names = new Set<string>();
  for (const part of turns.flatMap(({ parts }) => parts)) {
    if (part.kind === "call") names.add(part.name);
    else if (part.kind === "result") names.add(part.name ?? "tool");
  }
  return names;
}

function pastTool(name: string): JsonObject {
  return {
    name,
    description: "Not offered any more.",
    inputSchema: { json: { type: "object", properties: {} } },
  };
}

function toolSpec(
  tool: Chat.ToolDefinition,
  names: ToolNames.NameMap,
  model: string,
  refuse: Chat.Request["refuse"],
): JsonObject {
  const { name, description, schema, schemaPath } = tool;
  if (schema.type !== "object")
    refuse(`${schemaPath}.type`, "a tool whose arguments are no object");
  // A model without strict schemas refuses the field. The tool works without it.
  const isStrict = tool.strict === true && supports("schema", model) === true;
  const json = isNova(model)
    ? novaSchema(schema, schemaPath, refuse)
    : isStrict
      ? Schema.lower(schema, STRICT_SCHEMA, schemaPath, refuse)
      : schema;
  return {
    name: names.toUpstream(name),
    ...(description === undefined || description === "" ? {} : { description }),
    inputSchema: { json },
    ...(isStrict ? { strict: true } : {}),
  };
}

function outputFormat({ responseFormat: format, refuse }: Chat.Request): JsonObject {
  if (format === undefined) return {};
  if (format.type === "json_object") return refuse("response_format", "JSON without a schema");
  const { name, description, schema, schemaPath } = format;
  const lowered = Schema.lower(schema, STRICT_SCHEMA, schemaPath, refuse);
  const jsonSchema = {
    schema: JSON.stringify(lowered),
    name,
    ...(description === undefined ? {} : { description }),
  };
  return { textFormat: { type: "json_schema", structure: { jsonSchema } } };
}
