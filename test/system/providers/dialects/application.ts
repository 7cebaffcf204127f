/** An application that knows one API, that of OpenAI, and uses it through OpenAI's own package. */

import OpenAI, { APIError } from "openai";

/** What the application got for one request. */
export type Outcome =
  | {
      readonly text: string;
      readonly finish: string | null;
      /** Names and arguments, in order. */
      readonly calls: readonly { readonly name: string; readonly input: unknown }[];
      readonly usage: {
        readonly prompt: number;
        readonly completion: number;
        readonly total: number;
        readonly cached: number | undefined;
      };
    }
  | { readonly status: number; readonly param: string | null | undefined };

/** A small PNG. */
export const PICTURE = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

/** What the tools gave. One answers with JSON, the others with a text. */
export const RESULTS = ["21 °C", '{"degrees":19}', "12:00"] as const;

const OBJECT = { type: "object", additionalProperties: false } as const;
const TOOLS: OpenAI.ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "The weather in a city.",
      parameters: { ...OBJECT, properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
  {
    type: "function",
    function: {
      name: "get_time",
      description: "What time it is.",
      parameters: { ...OBJECT, properties: {} },
    },
  },
];
const FORMAT: OpenAI.ResponseFormatJSONSchema = {
  type: "json_schema",
  json_schema: {
    name: "weather",
    strict: true,
    schema: {
      ...OBJECT,
      properties: { city: { type: "string" }, degrees: { type: "integer" } },
      required: ["city", "degrees"],
    },
  },
};
const SYSTEM: OpenAI.ChatCompletionMessageParam[] = [
  { role: "system", content: "Be brief." },
  { role: "developer", content: "Say du." },
];

const user = (
  content: OpenAI.ChatCompletionUserMessageParam["content"],
): OpenAI.ChatCompletionMessageParam => ({
  role: "user",
  content,
});

/** Everything that the application does with one model. Each entry is one request. */
export async function runApplication(
  client: OpenAI,
  model: string,
  stream: boolean,
): Promise<Record<string, Outcome>> {
  const ask = async (
    request: Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "model" | "stream">,
  ) => {
    try {
      const reply = stream
        ? await client.chat.completions
            .stream({ ...request, model, stream_options: { include_usage: true } })
            .finalChatCompletion()
        : await client.chat.completions.create({ ...request, model });
      return { message: reply.choices[0]?.message, outcome: outcomeOf(reply) };
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      return {
        message: undefined,
        outcome: { status: error.status as number, param: error.param },
      };
    }
  };
  const question = user("How is the weather, and what time is it?");
  const [system, called, seen, formed, cut, refused] = await Promise.all([
    ask({ messages: [...SYSTEM, user("Hello.")] }),
    ask({ messages: [...SYSTEM, question], tools: TOOLS }),
    ask({
      messages: [
        user([
          { type: "text", text: "What is this?" },
          {
            type: "image_url",
            image_url: { url: `data:image/png;base64,${PICTURE.toString("base64")}` },
          },
        ]),
      ],
    }),
    ask({ messages: [question], response_format: FORMAT }),
    ask({ messages: [user("Count.")], max_completion_tokens: 5 }),
    ask({ messages: [user("Something forbidden.")] }),
  ]);
  const made = called.message?.tool_calls ?? [];
  const results = made.map(({ id }, index) => ({
    role: "tool" as const,
    tool_call_id: id,
    content: RESULTS[index] ?? "",
  }));
  // Results may come in any order.
  const history = [
    ...SYSTEM,
    question,
    ...(called.message === undefined ? [] : [called.message]),
    ...results.toReversed(),
  ];
  const { outcome: answered } = await ask({ messages: history, tools: TOOLS });
  return {
    system: system.outcome,
    called: called.outcome,
    answered,
    seen: seen.outcome,
    formed: formed.outcome,
    cut: cut.outcome,
    refused: refused.outcome,
  };
}

function outcomeOf({ choices, usage }: OpenAI.ChatCompletion): Outcome {
  const [choice] = choices;
  const calls = choice?.message.tool_calls ?? [];
  if (new Set(calls.map(({ id }) => id)).size !== calls.length)
    throw new Error("Two calls have one id.");
  return {
    text: choice?.message.content ?? "",
    finish: choice?.finish_reason ?? null,
    calls: calls.flatMap((call) =>
      call.type === "function"
        ? [{ name: call.function.name, input: JSON.parse(call.function.arguments) as unknown }]
        : [],
    ),
    usage: {
      prompt: usage?.prompt_tokens ?? 0,
      completion: usage?.completion_tokens ?? 0,
      total: usage?.total_tokens ?? 0,
      cached: usage?.prompt_tokens_details?.cached_tokens,
    },
  };
}
