/** Random valid requests of every face, for a model of every provider. */

import type { Chance, PlantedRequest } from "./requests.ts";

const base64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString("base64");
const PNG = base64(Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(180, 7)]));
const SIGNATURE = base64(Buffer.alloc(90, 9));
const WORDS = ["hello", "a question", "The weather is fine.", "Read this, please."] as const;
const said = (chance: Chance): string => chance.of(WORDS);
const text = (chance: Chance): object => ({ type: "text", text: said(chance) });
const schema = (chance: Chance): object => ({
  type: "object",
  ...chance.members({ title: "t", description: "a schema" }),
  properties: {
    city: { type: "string", description: "a city", enum: ["a", "b"] },
    inner: { type: "object", properties: { n: { type: "string" } } },
  },
});
const strict = (): object => ({
  type: "object",
  additionalProperties: false,
  required: ["city"],
  properties: { city: { type: "string", description: "a city" } },
});
/** Members that the gateway takes in every form. */
const OWN = [{ tags: ["a"] }, { num_retries: 0 }, { cache: { "no-cache": true } }];

function messages(chance: Chance, model: string): PlantedRequest {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
  const isCalling = chance.below(2) === 0;
  const use = {
    type: "tool_use",
    id: "toolu_1",
    name: "weather",
    input: { city: "Lima", a: [{ b: "c" }] },
  };
  const result = {
    type: "tool_result",
    tool_use_id: "toolu_1",
    content: chance.of<unknown>(["rain", [text(chance)]]),
  };
  const thought = { type: "thinking", thinking: "hm", signature: SIGNATURE };
  // Only Anthropic's own models take them.
  const searched = model === "anthropic" && !isCalling ? searchTurn(chance) : [];
  const body = {
    model,
    max_tokens: 2_000,
    messages: [
      {
        role: "user",
        content: chance.of<unknown>([said(chance), [text(chance), ...chance.some([image])]]),
      },
      ...(isCalling
        ? [
            { role: "assistant", content: [...chance.some([thought]), text(chance), use] },
            { role: "user", content: [result, ...chance.some([text(chance)])] },
          ]
        : chance.some([{ role: "system", content: said(chance) }])),
      ...searched,
      ...(isCalling ? [] : [{ role: "user", content: said(chance) }]),
    ],
    ...(isCalling
      ? { tools: [{ name: "weather", description: "d", input_schema: schema(chance) }] }
      : {}),
    ...chance.members(
      {
        system: chance.of<unknown>([
          said(chance),
          [{ ...text(chance), cache_control: { type: "ephemeral" } }],
        ]),
      },
      { metadata: { user_id: "u", ticket: "t" } },
      { stop_sequences: ["x"] },
      { context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } },
      ...OWN,
    ),
    ...(searched.length === 0
      ? {}
      : {
          tools: [
            {
              type: "web_search_20250305",
              name: "web_search",
              max_uses: 5,
              allowed_domains: ["example.com"],
              user_location: { type: "approximate", city: "Lima" },
            },
          ],
        }),
  };
  return { path: "/v1/messages", body };
}

/** An earlier answer of the model with blocks that only the client's own dialect has. */
function searchTurn(chance: Chance): object[] {
  const id = "srvtoolu_1";
  const found = {
    type: "web_search_result",
    url: "https://example.com/a",
    title: "A page",
    page_age: "2 days",
    encrypted_content: SIGNATURE,
  };
  const page = { type: "document", source: { type: "text", media_type: "text/plain", data: "w" } };
  const results = [
    [
      { type: "server_tool_use", id, name: "web_search", input: { query: "words", deep: ["w"] } },
      { type: "web_search_tool_result", tool_use_id: id, content: [found] },
    ],
    [
      { type: "server_tool_use", id, name: "web_fetch", input: { url: "https://example.com/a" } },
      {
        type: "web_fetch_tool_result",
        tool_use_id: id,
        content: { type: "web_fetch_result", url: "https://example.com/a", content: page },
      },
    ],
    [
      { type: "server_tool_use", id, name: "bash_code_execution", input: { command: "ls" } },
      {
        type: "bash_code_execution_tool_result",
        tool_use_id: id,
        content: {
          type: "bash_code_execution_result",
          stdout: "out",
          stderr: "err",
          return_code: 0,
          content: [{ type: "bash_code_execution_output", file_id: "file_1" }],
        },
      },
    ],
    [
      { type: "mcp_tool_use", id: "mcptoolu_1", name: "m", server_name: "s", input: { a: "b" } },
      {
        type: "mcp_tool_result",
        tool_use_id: "mcptoolu_1",
        is_error: false,
        content: [{ type: "text", text: "w" }],
      },
    ],
    [{ type: "of_next_year", text: "w", more: [{ deep: "w" }] }],
  ];
  return [{ role: "assistant", content: [text(chance), ...chance.of(results), text(chance)] }];
}

function responses(chance: Chance, model: string): PlantedRequest {
  const isCalling = chance.below(2) === 0;
  const isCustom = isCalling && chance.below(3) === 0;
  const call = isCustom
    ? { type: "custom_tool_call", call_id: "call_1", name: "patch", input: "words of a patch" }
    : { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Lima"}' };
  const output = {
    type: isCustom ? "custom_tool_call_output" : "function_call_output",
    call_id: "call_1",
    output: chance.of<unknown>(["rain", [{ type: "input_text", text: "rain" }]]),
  };
  const reasoning = {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "hm" }],
    encrypted_content: SIGNATURE,
  };
  const tools = [
    {
      type: "function",
      name: "weather",
      description: "d",
      parameters: schema(chance),
      strict: false,
    },
    { type: "custom", name: "patch", description: "applies a patch" },
    {
      type: "namespace",
      name: "mail",
      description: "of mails",
      tools: [{ type: "function", name: "send", description: "sends", parameters: schema(chance) }],
    },
  ];
  const items = [
    { role: "user", content: [{ type: "input_text", text: said(chance) }] },
    ...chance.some([
      { role: "developer", content: said(chance) },
      {
        type: "message",
        role: "assistant",
        id: "msg_1",
        status: "completed",
        content: [{ type: "output_text", text: "w", annotations: [] }],
      },
      {
        role: "user",
        content: [{ type: "input_image", image_url: `data:image/png;base64,${PNG}` }],
      },
    ]),
    ...(isCalling ? [...chance.some([reasoning]), call, output] : []),
    { role: "user", content: said(chance) },
  ];
  const body = {
    model,
    store: false,
    input: isCalling ? items : chance.of<unknown>([said(chance), items]),
    ...(isCalling ? { tools } : {}),
    ...chance.members(
      { instructions: "Be brief." },
      { metadata: { a: "b" } },
      { prompt_cache_key: "key" },
      { include: ["reasoning.encrypted_content"] },
      ...(isCalling
        ? []
        : [{ text: { format: { type: "json_schema", name: "a", schema: strict() } } }]),
      ...OWN,
    ),
  };
  return { path: chance.of(["/v1/responses", "/responses"]), body };
}

function gemini(chance: Chance, model: string): PlantedRequest {
  const isCalling = chance.below(2) === 0;
  const name = (camel: string, snake: string): string => chance.of([camel, snake]);
  const call = { functionCall: { name: "weather", args: { city: "Lima", a: [{ b: "c" }] } } };
  const response = {
    functionResponse: { name: "weather", response: { said: "rain", more: [{ deep: "words" }] } },
  };
  const image = {
    [name("inlineData", "inline_data")]: {
      [name("mimeType", "mime_type")]: "image/png",
      data: PNG,
    },
  };
  const declared = {
    name: "weather",
    description: "d",
    [chance.of(["parameters", "parametersJsonSchema", "parameters_json_schema"])]: schema(chance),
  };
  const body = {
    contents: [
      { role: "user", parts: [{ text: said(chance) }, ...chance.some([image])] },
      ...(isCalling
        ? [
            { role: "model", parts: [...chance.some([{ text: "I look." }]), call] },
            { role: "user", parts: [response] },
          ]
        : []),
      ...(isCalling
        ? []
        : [
            { role: "model", parts: [{ text: "ok" }] },
            { role: "user", parts: [{ text: said(chance) }] },
          ]),
    ],
    ...(isCalling
      ? { tools: [{ [name("functionDeclarations", "function_declarations")]: [declared] }] }
      : {}),
    ...chance.members(
      { [name("systemInstruction", "system_instruction")]: { parts: [{ text: said(chance) }] } },
      {
        [name("generationConfig", "generation_config")]: {
          temperature: 1,
          [name("stopSequences", "stop_sequences")]: ["x"],
        },
      },
      { labels: { team: "a" } },
      { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }] },
      ...OWN,
    ),
  };
  return { path: `/v1beta/models/${model}:generateContent`, body };
}

function completions(chance: Chance, model: string): PlantedRequest {
  return {
    path: "/v1/completions",
    body: {
      model,
      prompt: chance.of<unknown>([said(chance), [said(chance)]]),
      ...chance.members({ stop: "x" }, { user: "a" }, ...OWN),
    },
  };
}

const FACES = [messages, responses, gemini, completions];
const MODELS = ["openai", "anthropic", "gemini", "bedrock", "cohere", "mistral", "local"];

/** How many kinds of requests there are. */
export const FACE_KINDS = FACES.length * MODELS.length;

/** A request of one face for one model. */
export function faceRequestOf(kind: number, chance: Chance): PlantedRequest {
  const face = FACES[kind % FACES.length]!;
  const model = MODELS[Math.floor(kind / FACES.length) % MODELS.length]!;
  return face(chance, model);
}
