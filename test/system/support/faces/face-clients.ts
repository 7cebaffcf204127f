/** The unmodified SDKs of the faces, asked the same and answering alike. */

import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

/** The faces with an SDK of their own. */
export const FACES = ["messages", "responses", "gemini"] as const;
export type FaceName = (typeof FACES)[number];

/** A question, in every face's form. */
export interface Question {
  readonly model: string;
  readonly prompt: string;
  readonly stream?: boolean;
  readonly maxTokens?: number;
  /** Offers the tool `weather`, with the argument `city`. */
  readonly hasTool?: boolean;
  /** Further members of the body. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** What the SDK has made of a reply. */
export interface Answered {
  readonly thought: string;
  readonly text: string;
  /** The arguments of all calls. */
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly stop: string;
  /** Tokens of prompt and reply as the client's dialect counts them. */
  readonly usage: readonly [number, number];
  readonly requestId: string | null;
  /** Everything, as JSON: to look for what must not be there. */
  readonly raw: string;
}

/** The address and the key of a gateway. */
export interface Place {
  readonly publicUrl: string;
  readonly key: string;
}

/** Asks by the SDK of a face. Rejects with the SDK's own errors. */
export function ask(face: FaceName, place: Place, question: Question): Promise<Answered> {
  return ASK[face](place, question);
}

const ASK: Readonly<Record<FaceName, (place: Place, question: Question) => Promise<Answered>>> = {
  messages: askMessages,
  responses: askResponses,
  gemini: askGemini,
};

const SCHEMA = {
  type: "object" as const,
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/** Anthropic's SDK. It never tries twice. */
export function anthropicClient({ publicUrl, key }: Place): Anthropic {
  return new Anthropic({ apiKey: key, baseURL: publicUrl, maxRetries: 0 });
}

/** OpenAI's SDK. It never tries twice. */
export function openaiClientOf({ publicUrl, key }: Place): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: `${publicUrl}/v1`, maxRetries: 0 });
}

/** Google's SDK. It never tries twice. */
export function googleClient({ publicUrl, key }: Place): GoogleGenAI {
  const httpOptions = { baseUrl: publicUrl, retryOptions: { attempts: 1 } };
  return new GoogleGenAI({ apiKey: key, vertexai: false, httpOptions });
}

async function askMessages(place: Place, question: Question): Promise<Answered> {
  const client = anthropicClient(place);
  const { model, prompt, maxTokens = 500, hasTool, more, headers, signal } = question;
  const body = {
    model,
    max_tokens: maxTokens,
    messages: [{ role: "user" as const, content: prompt }],
    ...(hasTool === true ? { tools: [{ name: "weather", input_schema: SCHEMA }] } : {}),
    ...more,
  };
  const options = { headers: { ...headers }, signal };
  const message =
    question.stream === true
      ? await client.messages.stream(body, options).finalMessage()
      : await client.messages.create(body, options);
  const { content, stop_reason, usage } = message;
  return {
    thought: content.map((each) => (each.type === "thinking" ? each.thinking : "")).join(""),
    text: content.map((each) => (each.type === "text" ? each.text : "")).join(""),
    calls: content.flatMap((each) =>
      each.type === "tool_use" ? [{ name: each.name, input: each.input }] : [],
    ),
    stop: String(stop_reason),
    usage: [usage.input_tokens, usage.output_tokens],
    requestId: (message as { _request_id?: string | null })._request_id ?? null,
    raw: JSON.stringify(message),
  };
}

async function askResponses(place: Place, question: Question): Promise<Answered> {
  const client = openaiClientOf(place);
  const { model, prompt, maxTokens = 500, hasTool, more, headers, signal } = question;
  const tool = { type: "function" as const, name: "weather", parameters: SCHEMA, strict: true };
  const body = {
    model,
    max_output_tokens: maxTokens,
    store: false,
    input: prompt,
    ...(hasTool === true ? { tools: [tool] } : {}),
    ...more,
  };
  const options = { headers: { ...headers }, signal };
  const response =
    question.stream === true
      ? await client.responses.stream(body, options).finalResponse()
      : await client.responses.create(body, options);
  const { output, usage, status, incomplete_details } = response;
  return {
    thought: output
      .flatMap((each) =>
        each.type === "reasoning" ? [...each.summary, ...(each.content ?? [])] : [],
      )
      .map((each) => each.text)
      .join(""),
    text: response.output_text,
    calls: output.flatMap((each) =>
      each.type === "function_call" ? [{ name: each.name, input: JSON.parse(each.arguments) }] : [],
    ),
    stop: incomplete_details?.reason ?? String(status),
    usage: [usage?.input_tokens ?? -1, usage?.output_tokens ?? -1],
    requestId: (response as { _request_id?: string | null })._request_id ?? null,
    raw: JSON.stringify(response),
  };
}

async function askGemini(place: Place, question: Question): Promise<Answered> {
  const client = googleClient(place);
  const { model, prompt, maxTokens = 500, hasTool, more, headers, signal } = question;
  const declared = { functionDeclarations: [{ name: "weather", parametersJsonSchema: SCHEMA }] };
  const asked = {
    model,
    contents: prompt,
    config: {
      maxOutputTokens: maxTokens,
      thinkingConfig: { includeThoughts: true },
      ...(hasTool === true ? { tools: [declared] } : {}),
      httpOptions: {
        headers: { ...headers },
        ...(more === undefined ? {} : { extraBody: { ...more } }),
      },
      ...(signal === undefined ? {} : { abortSignal: signal }),
    },
  };
  const replies = [];
  if (question.stream === true)
    for await (const reply of await client.models.generateContentStream(asked)) replies.push(reply);
  else replies.push(await client.models.generateContent(asked));
  const parts = replies.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
  const textOf = (isThought: boolean): string =>
    parts
      .map(({ text, thought }) => ((thought ?? false) === isThought ? (text ?? "") : ""))
      .join("");
  const last = replies.at(-1);
  const used = last?.usageMetadata;
  return {
    thought: textOf(true),
    text: textOf(false),
    calls: parts.flatMap(({ functionCall: call }) =>
      call === undefined ? [] : [{ name: call.name ?? "", input: call.args }],
    ),
    stop: String(last?.candidates?.[0]?.finishReason),
    usage: [used?.promptTokenCount ?? -1, used?.candidatesTokenCount ?? -1],
    requestId: last?.sdkHttpResponse?.headers?.["x-request-id"] ?? null,
    raw: JSON.stringify(replies),
  };
}
