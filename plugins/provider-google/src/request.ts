/**
 * Chat requests as `generateContent` requests (ai.google.dev/api/generate-content; the types of
 * @google/genai 2.32.0).
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
import type { Stages } from "@sluice/kit";
import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import { takesJsonSchema, thinkingOf } from "./models.ts";
import { contentsOf } from "./parts.ts";
import { JSON_SCHEMA, OPEN_API_SCHEMA } from "./schema-subset.ts";

/** Parameters of chat that the API has a way to say. */
export const CHAT_PARAMETERS: readonly string[] = [
  ...BASIC_PARAMETERS.filter((name) => name !== "parallel_tool_calls"),
  "n",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "modalities",
  "reasoning_effort",
  "thinking",
  "service_tier",
  "web_search_options",
];

/**
 * Members of the API's own that a client may send beside them, in either spelling, and where they
 * go.
 */
const NATIVE: Readonly<Record<string, string>> = {
  safety_settings: "safetySettings",
  safetySettings: "safetySettings",
  cached_content: "cachedContent",
  cachedContent: "cachedContent",
  labels: "labels",
};
/** The same, for members of `generationConfig`. */
const NATIVE_CONFIG: Readonly<Record<string, string>> = {
  top_k: "topK",
  media_resolution: "mediaResolution",
  image_config: "imageConfig",
  speech_config: "speechConfig",
};
const NATIVE_NAMES = [...Object.keys(NATIVE), ...Object.keys(NATIVE_CONFIG)];

/** The API's own tools by the type that a client gives them. */
const NATIVE_TOOLS: Readonly<Record<string, string>> = {
  google_search: "googleSearch",
  url_context: "urlContext",
  code_execution: "codeExecution",
  google_maps: "googleMaps",
};

/** `FunctionDeclaration.name`; the length is the older limit. */
const TOOL_NAME: ToolNames.NameRule = {
  character: /[a-zA-Z0-9_.:-]/,
  first: /[a-zA-Z_]/,
  maxLength: 64,
};
const MAX_CHOICES = 8;
const MAX_STOPS = 5;
const MAX_SEED = 2 ** 31;
/**
 * Budgets of Google's own layer of the reference dialect (ai.google.dev/gemini-api/docs/openai,
 * thinking).
 */
const BUDGETS = Members.table<number>({
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
});
const LEVELS = Members.table<string>({
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
  max: "HIGH",
});

/** The names of a request's tools, both ways. */
export function toolNames(request: ProviderRequest): ToolNames.NameMap {
  return ToolNames.map(request, TOOL_NAME);
}

/** The body to send, in stages. */
export function* contentBody(request: ProviderRequest, isVertex: boolean): Stages.Of<JsonObject> {
  const chat = yield* Chat.requestStages(request, {
    parameters: CHAT_PARAMETERS,
    native: NATIVE_NAMES,
    needsTurn: true,
    isNativeTool: (type) => Object.hasOwn(NATIVE_TOOLS, type),
  });
  const { refuse } = chat;
  const { model } = request.target;
  const names = toolNames(request);
  if (request.stream && typeof chat.body.n === "number" && chat.body.n > 1)
    refuse("n", "more than one choice on a stream");
  const contents = yield* contentsOf(chat.turns, { model, names, refuse, isVertex });
  if (contents.length === 0)
    throw invalidField("messages", "a conversation with at least one message that is not empty");
  const config = generationConfig(chat, model);
  return {
    contents,
    ...(chat.system.length === 0
      ? {}
      : { systemInstruction: { parts: chat.system.map(({ text }) => ({ text })) } }),
    ...tools(chat, model, names),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    ...serviceTier(chat, isVertex),
    ...renamed(chat.native, NATIVE),
  };
}

function renamed(native: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(native).flatMap(([name, value]) =>
      names[name] === undefined ? [] : [[names[name], value]],
    ),
  );
}

function generationConfig(chat: Chat.Request, model: string): JsonObject {
  const { temperature, topP, maxTokens, stop, seed, presencePenalty, frequencyPenalty, refuse } =
    chat;
  if (stop.length > MAX_STOPS) refuse("stop", `more than ${MAX_STOPS} stop sequences`);
  if (seed !== undefined && (!Number.isInteger(seed) || Math.abs(seed) >= MAX_SEED))
    refuse("seed", "a seed of more than 32 bits");
  return Members.present({
    temperature,
    topP,
    maxOutputTokens: maxTokens,
    seed,
    presencePenalty,
    frequencyPenalty,
    ...(stop.length === 0 ? {} : { stopSequences: stop }),
    candidateCount: choices(chat),
    responseModalities: modalities(chat),
    ...outputFormat(chat, model),
    thinkingConfig: thought(chat, model),
    ...renamed(chat.native, NATIVE_CONFIG),
  });
}

function choices({ body: { n }, refuse }: Chat.Request): number | undefined {
  if (n === undefined || n === null || n === 1) return undefined;
  if (typeof n !== "number" || !Number.isInteger(n) || n < 1)
    throw invalidField("n", "a whole number from 1 on");
  return n > MAX_CHOICES ? refuse("n", `more than ${MAX_CHOICES} choices`) : n;
}

function modalities({
  body: { modalities: asked },
  refuse,
}: Chat.Request): readonly string[] | undefined {
  if (asked === undefined || asked === null) return undefined;
  if (!Array.isArray(asked)) throw invalidField("modalities", "an array");
  const wanted = asked.map((each: JsonValue) =>
    each === "text" || each === "image"
      ? each.toUpperCase()
      : refuse("modalities", `the modality ${String(each).slice(0, 32)}`),
  );
  return wanted.length === 1 && wanted[0] === "TEXT" ? undefined : wanted;
}

function outputFormat({ responseFormat: format, refuse }: Chat.Request, model: string): JsonObject {
  if (format === undefined) return {};
  const mime = { responseMimeType: "application/json" };
  if (format.type === "json_object") return mime;
  return {
    ...mime,
    ...schemaAs("response", format.schema, model, { path: format.schemaPath, refuse }),
  };
}

/** A schema, under the member that the model supports. */
function schemaAs(
  name: "response" | "parameters",
  schema: JsonObject,
  model: string,
  { path, refuse }: { readonly path: string; readonly refuse: Chat.Request["refuse"] },
): JsonObject {
  if (takesJsonSchema(model))
    return { [`${name}JsonSchema`]: Schema.lower(schema, JSON_SCHEMA, path, refuse) };
  return {
    [name === "response" ? "responseSchema" : name]: Schema.lower(
      schema,
      OPEN_API_SCHEMA,
      path,
      refuse,
    ),
  };
}

/** Thinking: Anthropic's form as a budget, an effort in the form of the model. */
function thought(
  { thinking, reasoningEffort: effort, refuse }: Chat.Request,
  model: string,
): JsonObject | undefined {
  if (thinking !== undefined) {
    if (thinking.type === "disabled")
      return thoughtless(model, () => refuse("thinking", "a request without thoughts"));
    const { budget_tokens: budget } = thinking;
    if (thinkingOf(model).by === "nothing") return refuse("thinking", "thinking");
    return {
      includeThoughts: true,
      ...(typeof budget === "number" ? { thinkingBudget: budget } : {}),
    };
  }
  if (effort === undefined) return undefined;
  if (effort === "none")
    return thoughtless(model, () => refuse("reasoning_effort", "a request without thoughts"));
  const level = LEVELS[effort];
  if (level === undefined) return refuse("reasoning_effort", `the effort ${effort.slice(0, 32)}`);
  const { by, levels } = thinkingOf(model);
  switch (by) {
    case "nothing":
      return refuse("reasoning_effort", "an effort");
    case "budget":
      return { includeThoughts: true, thinkingBudget: BUDGETS[effort] as number };
    case "level": {
      const nearest = levels.includes(level) ? level : level === "MINIMAL" ? "LOW" : "HIGH";
      return { includeThoughts: true, thinkingLevel: nearest };
    }
    default:
      return by satisfies never;
  }
}

function thoughtless(model: string, refuse: () => never): JsonObject | undefined {
  const { by, isOptional } = thinkingOf(model);
  if (!isOptional) return refuse();
  // MINIMAL is as near to none as the third generation comes.
  return by === "nothing"
    ? undefined
    : by === "budget"
      ? { thinkingBudget: 0 }
      : { thinkingLevel: "MINIMAL" };
}

function serviceTier(
  { body: { service_tier: tier }, refuse }: Chat.Request,
  isVertex: boolean,
): JsonObject {
  if (tier === undefined || tier === null || tier === "auto") return {};
  if (isVertex) return refuse("service_tier", "a service tier (Vertex AI has it in the agreement)");
  if (tier === "default" || tier === "standard") return { serviceTier: "standard" };
  if (tier === "flex" || tier === "priority") return { serviceTier: tier };
  return refuse("service_tier", `the service tier ${String(tier).slice(0, 64)}`);
}

function tools(chat: Chat.Request, model: string, names: ToolNames.NameMap): JsonObject {
  const { body, refuse } = chat;
  const { tools: offered, choice } = offeredTools(chat);
  const search = webSearch(body.web_search_options, refuse);
  const native = offered.flatMap((tool) => {
    if (tool.kind !== "native") return [];
    const { type, ...options } = tool.value;
    return [{ [NATIVE_TOOLS[String(type)] as string]: options }];
  });
  const functions = offered.flatMap((tool) => (tool.kind === "function" ? [tool] : []));
  const declarations = functions.map((tool) => declarationOf(tool, model, names, refuse));
  const list = [
    ...(declarations.length === 0 ? [] : [{ functionDeclarations: declarations }]),
    ...native,
    ...search,
  ];
  if (list.length === 0) return {};
  const calling = callingConfig(choice, names);
  return {
    tools: list,
    ...(calling === undefined ? {} : { toolConfig: { functionCallingConfig: calling } }),
  };
}

function webSearch(asked: JsonValue | undefined, refuse: Chat.Request["refuse"]): JsonObject[] {
  if (asked === undefined || asked === null) return [];
  if (Object.keys(asked as object).length > 0)
    refuse("web_search_options", "options of its search");
  return [{ googleSearch: {} }];
}

function callingConfig(
  choice: Chat.OfferedTools["choice"],
  names: ToolNames.NameMap,
): JsonObject | undefined {
  switch (choice?.mode) {
    case undefined:
    case "auto":
      return undefined;
    case "none":
      return { mode: "NONE" };
    case "required":
      return { mode: "ANY" };
    case "named":
      return { mode: "ANY", allowedFunctionNames: [names.toUpstream(choice.name)] };
    default:
      return choice satisfies never;
  }
}

function declarationOf(
  tool: Chat.ToolDefinition,
  model: string,
  names: ToolNames.NameMap,
  refuse: Chat.Request["refuse"],
): JsonObject {
  const { name, description, schema, schemaPath: path } = tool;
  if (schema.type !== "object") refuse(`${path}.type`, "a tool whose arguments are no object");
  const { properties } = schema;
  // An object without members is sent without a schema, which every model takes.
  const isEmpty = Object.keys(schema).every(
    (key) => key === "type" || key === "properties" || key === "additionalProperties",
  );
  const hasNone =
    isEmpty && (properties === undefined || Object.keys(properties as object).length === 0);
  return {
    ...Members.present({ name: names.toUpstream(name), description }),
    ...(hasNone ? {} : schemaAs("parameters", schema, model, { path, refuse })),
  };
}
