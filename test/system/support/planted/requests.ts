/**
 * Random valid requests of every dialect, and the places of them at which a text can stand. The
 * same requests for the same seed.
 */

/** Numbers by a linear congruence (Numerical Recipes): a test needs no better chance. */
export class Chance {
  #seed: number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
  }

  below(bound: number): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#seed / 2 ** 32) * bound);
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** Some of the items, at least `least` of them, in any order. */
  some<T>(items: readonly T[], least = 0): T[] {
    const shuffled = items
      .map((item) => [this.below(1_000_000), item] as const)
      .toSorted((a, b) => a[0] - b[0]);
    return shuffled.slice(0, least + this.below(items.length - least + 1)).map(([, item]) => item);
  }

  /** The members of some of the objects, in any order. */
  members(...objects: readonly object[]): object {
    return Object.assign({}, ...this.some(objects)) as object;
  }
}

/** A request, before anything is planted. */
export interface PlantedRequest {
  readonly path: string;
  readonly body: object;
}

const base64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString("base64");
const PNG = base64(Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(180, 7)]));
const TEXT = base64(
  "A plain text of some length, as a document would hold it, with several words in each of its lines.",
);
export const WORDS = ["hello", "a question", "The weather is fine.", "Read this, please."] as const;
const schema = (chance: Chance): object => ({
  type: "object",
  ...chance.members(
    { title: "t", description: "a schema" },
    { required: ["city"] },
    { additionalProperties: false },
  ),
  properties: {
    city: { type: "string", description: "a city", enum: ["a", "b"] },
    inner: { type: "object", properties: { n: {} } },
  },
});
const said = (chance: Chance): string => chance.of(WORDS);
const text = (chance: Chance): object => ({ type: "text", text: said(chance) });
const SAMPLING = [{ temperature: 0.5 }, { top_p: 1 }, { stop: ["x", "y"] }, { seed: 7 }];

/** Blocks that every chat provider takes. */
function chatBlocks(chance: Chance): object[] {
  return [
    text(chance),
    ...chance.some([
      text(chance),
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
    ]),
  ];
}

function chat(chance: Chance, model: string): object {
  const call = {
    id: "call_1",
    type: "function",
    function: { name: "weather", arguments: '{"city":"Lima"}' },
  };
  const tools = [
    {
      type: "function",
      function: { name: "weather", description: "Tells the weather.", parameters: schema(chance) },
    },
  ];
  const history = [
    { role: "assistant", content: chance.of([null, "I look."]), tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: chance.of<unknown>(["rain", [text(chance)]]) },
  ];
  const isCalling = chance.below(2) === 0;
  return {
    model,
    messages: [
      ...chance.some([
        { role: "system", content: chance.of<unknown>([said(chance), [text(chance)]]) },
      ]),
      { role: "user", content: chance.of<unknown>([said(chance), chatBlocks(chance)]) },
      ...(isCalling ? history : []),
      { role: "user", content: said(chance) },
    ],
    ...(isCalling ? { tools } : {}),
    ...chance.members(
      ...SAMPLING.slice(0, 3),
      { max_tokens: 9 },
      { user: "alice" },
      { metadata: { ticket: "t-1" } },
    ),
  };
}

function anthropic(chance: Chance): object {
  const source = (media: string, data: string): object => ({
    source: { type: "base64", media_type: media, data },
  });
  const blocks = [
    text(chance),
    { type: "image", ...source("image/png", PNG) },
    {
      type: "document",
      ...source("text/plain", TEXT),
      title: "t",
      context: "c",
      citations: { enabled: true },
    },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "plain words" } },
    {
      type: "document",
      source: {
        type: "content",
        content: [text(chance), { type: "image", ...source("image/png", PNG) }],
      },
    },
    {
      type: "tool_result",
      tool_use_id: "toolu_1",
      content: [text(chance), { type: "image", ...source("image/png", PNG) }],
    },
    { type: "search_result", source: "https://example.com", title: "t", content: [text(chance)] },
  ];
  const own = [
    text(chance),
    { type: "thinking", thinking: "hm", signature: PNG },
    { type: "redacted_thinking", data: PNG },
    {
      type: "tool_use",
      id: "toolu_1",
      name: "weather",
      input: { city: "Lima", deep: [{ more: "words" }] },
    },
  ];
  return {
    model: "claude-x",
    max_tokens: 9,
    messages: [
      { role: "user", content: chance.some(blocks, 1) },
      { role: "assistant", content: chance.some(own, 1) },
      { role: "user", content: said(chance) },
    ],
    ...chance.members(
      { system: [{ ...text(chance), cache_control: { type: "ephemeral" } }] },
      { tools: [{ name: "weather", description: "d", input_schema: schema(chance) }] },
      { tool_choice: { type: "tool", name: "weather" } },
      { metadata: { user_id: "u" } },
      { stop_sequences: ["x"] },
    ),
  };
}

function gemini(chance: Chance): object {
  const parts = [
    { text: said(chance) },
    { inlineData: { mimeType: "image/png", data: PNG } },
    { inline_data: { mime_type: "text/plain", data: TEXT } },
    { fileData: { mimeType: "image/png", fileUri: "https://example.com/f" } },
    { functionCall: { name: "weather", args: { city: "Lima" } }, thoughtSignature: PNG },
    {
      functionResponse: { name: "weather", response: { said: "rain", more: [{ deep: "words" }] } },
    },
    { executableCode: { language: "PYTHON", code: "print(1)" } },
  ];
  return {
    contents: [
      { role: "user", parts: chance.some(parts, 1) },
      { role: "model", parts: chance.some(parts, 1) },
    ],
    ...chance.members(
      { systemInstruction: { parts: [{ text: said(chance) }] } },
      {
        tools: [
          {
            functionDeclarations: [
              { name: "weather", description: "d", parameters: schema(chance) },
            ],
          },
        ],
      },
      {
        generationConfig: {
          temperature: 1,
          stopSequences: ["x"],
          responseMimeType: "application/json",
          responseSchema: schema(chance),
        },
      },
      { labels: { team: "a" } },
      { cachedContent: "cachedContents/a" },
    ),
  };
}

function cohere(chance: Chance): object {
  const call = {
    id: "c1",
    type: "function",
    function: { name: "weather", arguments: '{"city":"Lima"}' },
  };
  return {
    model: "command-x",
    messages: [
      { role: "system", content: said(chance) },
      {
        role: "user",
        content: [
          text(chance),
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } },
        ],
      },
      { role: "assistant", tool_plan: "I look.", tool_calls: [call] },
      {
        role: "tool",
        tool_call_id: "c1",
        content: [{ type: "document", document: { id: "d", data: { title: "t", said: "rain" } } }],
      },
    ],
    ...chance.members(
      { documents: [{ id: "d", data: { title: "t", snippet: "words" } }, "a document"] },
      {
        tools: [
          {
            type: "function",
            function: { name: "weather", description: "d", parameters: schema(chance) },
          },
        ],
      },
      { response_format: { type: "json_object", schema: schema(chance) } },
      { stop_sequences: ["x"] },
      { safety_mode: "CONTEXTUAL" },
    ),
  };
}

function mistral(chance: Chance): object {
  const blocks = [
    text(chance),
    { type: "image_url", image_url: `data:image/png;base64,${PNG}` },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
    { type: "input_audio", input_audio: PNG },
    { type: "document_url", document_url: "https://example.com/a.pdf", document_name: "a" },
  ];
  const thought = { type: "thinking", thinking: [text(chance)] };
  return {
    model: "mistral-x",
    messages: [
      { role: "user", content: chance.some(blocks, 1) },
      { role: "assistant", content: [thought, text(chance)], prefix: true },
    ],
    ...chance.members(
      { prediction: { type: "content", content: "words" } },
      { stop: "x" },
      { metadata: { a: "b" } },
    ),
  };
}

function bedrock(chance: Chance): object {
  const blocks = [
    { text: said(chance) },
    { image: { format: "png", source: { bytes: PNG } } },
    { video: { format: "mp4", source: { s3Location: { uri: "s3://a/b", bucketOwner: "1" } } } },
    { document: { format: "txt", name: "n", source: { bytes: TEXT }, context: "c" } },
    { document: { format: "txt", name: "n", source: { text: "words" } } },
    {
      toolResult: {
        toolUseId: "tooluse_1",
        content: [{ json: { said: "rain" } }, { image: { format: "png", source: { bytes: PNG } } }],
      },
    },
    { guardContent: { text: { text: "words", qualifiers: ["query"] } } },
    { cachePoint: { type: "default" } },
  ];
  const own = [
    { text: said(chance) },
    { toolUse: { toolUseId: "tooluse_1", name: "weather", input: { city: "Lima" } } },
    { reasoningContent: { reasoningText: { text: "hm", signature: PNG } } },
  ];
  return {
    messages: [
      { role: "user", content: chance.some(blocks, 1) },
      { role: "assistant", content: chance.some(own, 1) },
    ],
    ...chance.members(
      { system: [{ text: said(chance) }] },
      { inferenceConfig: { maxTokens: 9, stopSequences: ["x"] } },
      {
        toolConfig: {
          tools: [
            {
              toolSpec: {
                name: "weather",
                description: "d",
                inputSchema: { json: schema(chance) },
              },
            },
          ],
        },
      },
      { additionalModelRequestFields: { top_k: 5, mode: "m" } },
      { requestMetadata: { team: "a" } },
    ),
  };
}

function ollama(chance: Chance): object {
  return {
    model: "llama-x",
    messages: [
      { role: "user", content: said(chance), images: [PNG] },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ function: { name: "weather", arguments: { city: "Lima" } } }],
      },
      { role: "tool", tool_name: "weather", content: "rain" },
    ],
    stream: false,
    ...chance.members(
      { format: schema(chance) },
      { options: { stop: ["x"], num_ctx: 9 } },
      { keep_alive: "5m" },
      { think: "low" },
    ),
  };
}

function responses(chance: Chance): object {
  const items = [
    {
      role: "user",
      content: [
        { type: "input_text", text: said(chance) },
        { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
      ],
    },
    {
      type: "message",
      role: "assistant",
      id: "msg_1",
      status: "completed",
      content: [{ type: "output_text", text: "w", annotations: [] }],
    },
    {
      role: "user",
      content: [
        { type: "input_file", filename: "a.txt", file_data: `data:text/plain;base64,${TEXT}` },
      ],
    },
    { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Lima"}' },
    { type: "function_call_output", call_id: "call_1", output: "rain" },
    {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "hm" }],
      encrypted_content: PNG,
    },
    { type: "image_generation_call", id: "ig_1", status: "completed", result: PNG },
  ];
  return {
    model: "gpt-x",
    input: chance.of<unknown>([said(chance), chance.some(items, 1)]),
    ...chance.members(
      { instructions: "Be brief." },
      {
        tools: [
          { type: "function", name: "weather", description: "d", parameters: schema(chance) },
        ],
      },
      { text: { format: { type: "json_schema", name: "a", schema: schema(chance) } } },
      { reasoning: { effort: "low" } },
      { metadata: { a: "b" } },
      { prompt: { id: "pmpt_1", variables: { city: "Lima" } } },
    ),
  };
}

/** Every dialect: by its own route, and chat requests for every provider that translates them. */
const DIALECTS: readonly ((chance: Chance) => PlantedRequest)[] = [
  ...["openai", "anthropic", "gemini", "cohere", "mistral", "bedrock", "local"].map(
    (model) => (chance: Chance) => ({
      path: "/v1/chat/completions",
      body: chat(chance, model),
    }),
  ),
  (chance) => ({
    path: "/v1/embeddings",
    body: { model: "vectors", input: [said(chance), said(chance)], user: "alice" },
  }),
  (chance) => ({
    path: "/v1/images/generations",
    body: { model: "pictures", prompt: said(chance), size: "1024x1024", user: "alice" },
  }),
  (chance) => ({ path: "/openai/v1/chat/completions", body: chat(chance, "gpt-x") }),
  (chance) => ({ path: "/openai/v1/responses", body: responses(chance) }),
  (chance) => ({ path: "/openai/v1/embeddings", body: { model: "e", input: [said(chance)] } }),
  (chance) => ({ path: "/anthropic/v1/messages", body: anthropic(chance) }),
  (chance) => ({ path: "/gemini/v1beta/models/gemini-x:generateContent", body: gemini(chance) }),
  (chance) => ({ path: "/cohere/v2/chat", body: cohere(chance) }),
  (chance) => ({ path: "/mistral/v1/chat/completions", body: mistral(chance) }),
  (chance) => ({ path: "/bedrock/model/claude-x/converse", body: bedrock(chance) }),
  (chance) => ({ path: "/ollama/api/chat", body: ollama(chance) }),
];

/** How many kinds of requests there are. */
export const DIALECT_COUNT = DIALECTS.length;

/** A request of one dialect. */
export function requestOf(dialect: number, chance: Chance): PlantedRequest {
  return DIALECTS[dialect % DIALECTS.length]!(chance);
}
