/** OpenAI's chat completions, and what Azure, Mistral and the compatible ones make of them. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { Misread, type Said, TOKENS, type Turn } from "./model.ts";
import {
  eventStream,
  imageOfUrl,
  jsonAt,
  knownMembers,
  listAt,
  objectAt,
  pieces,
  textAt,
  turnOf,
} from "./reading.ts";
import { bodyOf, type Simulator } from "./simulator.ts";

const MEMBERS = ["model", "messages", "tools", "response_format", "stream", "stream_options"];

/** How one that speaks it differs. */
export interface OpenAiTerms {
  readonly path: string;
  readonly header: "authorization" | "api-key" | undefined;
  readonly maxTokens: "max_tokens" | "max_completion_tokens";
  readonly hasNoDeveloper?: true;
  /** The form of ids; `none`: calls come without ids and indices, whole. */
  readonly ids?: RegExp | "none";
  /** Images are a text, not an object (Mistral). */
  readonly hasPlainImages?: true;
  /** `stream_options` is nothing that it knows; its usage rides on the last chunk (Mistral). */
  readonly tellsUsage?: true;
  /** Says when it cannot answer a thing: without it such a request ends as a plain stop. */
  readonly filtered?: string;
  readonly usage?: (totals: JsonObject) => JsonObject;
  /** Where the usage of a stream is, if not in a chunk of its own. */
  readonly streamUsage?: "x_groq" | "with the finish";
  /** Chunks before, between and behind, as the dialect has them. */
  readonly before?: readonly JsonObject[];
}

const TOTALS: JsonObject = {
  prompt_tokens: TOKENS.prompt,
  completion_tokens: TOKENS.completion,
  total_tokens: TOKENS.prompt + TOKENS.completion,
};

/** A usage with the details that OpenAI has. */
export const detailed = (totals: JsonObject): JsonObject => ({
  ...totals,
  prompt_tokens_details: { cached_tokens: TOKENS.cached },
});

export function openai(terms: OpenAiTerms): Simulator {
  const { usage = detailed } = terms;
  return {
    read: (request, url) => {
      if (url !== terms.path) throw new Misread(`The path is ${url}.`);
      if (terms.header !== undefined && request.headers[terms.header] === undefined)
        throw new Misread("The key is missing.");
      const body = bodyOf(request);
      knownMembers(body, [...MEMBERS, terms.maxTokens], "the body");
      if (terms.tellsUsage === true && body.stream_options !== undefined)
        throw new Misread("It knows no stream_options.");
      const system: string[] = [];
      const turns: Turn[] = [];
      for (const [index, message] of listAt(body.messages, "messages").entries()) {
        const place = `messages[${index}]`;
        if (
          message.role === "system" ||
          (message.role === "developer" && terms.hasNoDeveloper !== true)
        ) {
          system.push(texts(message.content, place));
        } else readMessage(message, turns, terms, place);
      }
      const { type, json_schema: format } = objectAt(body.response_format ?? {}, "response_format");
      if (type !== undefined && type !== "json_schema")
        throw new Misread(`The format is ${JSON.stringify(type)}.`);
      return {
        system: system.join(" "),
        turns,
        tools: listAt(body.tools ?? [], "tools").map((tool) => {
          const { name, parameters } = objectAt(tool.function, "tools");
          return { name: textAt(name, "tools"), schema: objectAt(parameters ?? {}, "tools") };
        }),
        schema:
          format === undefined
            ? undefined
            : objectAt(objectAt(format, "json_schema").schema, "schema"),
        maxTokens: body[terms.maxTokens] as number | undefined,
        stream: body.stream === true,
      };
    },
    reply: (said) => {
      const message = {
        role: "assistant",
        content: said.text === "" ? null : said.text,
        ...toolCalls(said, terms, false),
      };
      const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(said, terms) };
      return {
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1_700_000_000,
        model: "m-2024",
        choices: [choice],
        usage: usage(TOTALS),
      };
    },
    stream: (said) =>
      eventStream([...(terms.before ?? []), ...chunks(said, terms, usage(TOTALS)), "[DONE]"]),
  };
}

function texts(content: JsonValue | undefined, place: string): string {
  if (typeof content === "string") return content;
  return listAt(content, place)
    .map(({ text }) => textAt(text, place))
    .join(" ");
}

function readMessage(
  message: JsonObject,
  turns: Turn[],
  { ids, hasPlainImages }: OpenAiTerms,
  place: string,
): void {
  const { role, content } = message;
  const idOf = (value: JsonValue | undefined): string => {
    const id = textAt(value, place);
    if (ids instanceof RegExp && !ids.test(id)) throw new Misread(`${place} has the id ${id}.`);
    return id;
  };
  if (role === "tool") {
    turnOf(turns, "user").results.push({
      id: idOf(message.tool_call_id),
      text: texts(content, place),
    });
    return;
  }
  if (role !== "user" && role !== "assistant")
    throw new Misread(`${place} has the role ${JSON.stringify(role)}.`);
  const turn = turnOf(turns, role);
  for (const call of listAt(message.tool_calls ?? [], place)) {
    const { name, arguments: given } = objectAt(call.function, place);
    turn.calls.push({ id: idOf(call.id), name: textAt(name, place), input: jsonAt(given, place) });
  }
  if (typeof content === "string") turn.texts.push(content);
  else {
    for (const block of listAt(content ?? [], place)) {
      if (block.type === "text") turn.texts.push(textAt(block.text, place));
      else
        turn.images.push(
          imageOfUrl(
            hasPlainImages === true ? block.image_url : objectAt(block.image_url, place).url,
            place,
          ),
        );
    }
  }
}

function finishOf({ finish }: Said, { filtered, ids }: OpenAiTerms): string {
  if (finish === "content_filter") return filtered ?? "stop";
  // Ollama's streams stop, whatever was called.
  return finish === "tool_calls" && ids === "none" ? "stop" : finish;
}

/** Nine letters and digits, which every provider accepts. */
function idOf(index: number): string {
  return `callA000${index}`;
}

function toolCalls({ calls }: Said, { ids }: OpenAiTerms, isDelta: boolean): JsonObject {
  if (calls.length === 0) return {};
  const made = calls.map(({ name, input }, index) => ({
    ...(ids === "none" ? {} : { ...(isDelta ? { index } : {}), id: idOf(index), type: "function" }),
    function: { name, arguments: JSON.stringify(input) },
  }));
  return { tool_calls: made };
}

function chunks(said: Said, terms: OpenAiTerms, usage: JsonObject): JsonObject[] {
  const head = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "m-2024",
  };
  const chunk = (delta: JsonObject, finish: string | null, more: JsonObject = {}): JsonObject => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  });
  const isWhole = terms.ids === "none" || terms.tellsUsage === true;
  const calls = isWhole
    ? said.calls.length === 0
      ? []
      : [toolCalls(said, terms, true)]
    : said.calls.flatMap(callPieces);
  const made = [
    chunk({ role: "assistant", content: "" }, null),
    ...pieces(said.text).map((content) => chunk({ content }, null)),
    ...calls.map((delta) => chunk(delta, null)),
  ];
  const finish = finishOf(said, terms);
  if (terms.streamUsage === "x_groq")
    return [...made, chunk({}, finish, { x_groq: { id: "req_1", usage } })];
  if (terms.streamUsage === "with the finish") return [...made, chunk({}, finish, { usage })];
  return [...made, chunk({}, finish), { ...head, choices: [], usage }];
}

/** A call's head, then its arguments in pieces. */
function callPieces({ name, input }: Said["calls"][number], index: number): JsonObject[] {
  const head = { index, id: idOf(index), type: "function", function: { name, arguments: "" } };
  return [
    head,
    ...pieces(JSON.stringify(input)).map((piece) => ({ index, function: { arguments: piece } })),
  ].map((call) => ({
    tool_calls: [call],
  }));
}
