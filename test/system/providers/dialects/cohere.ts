/** Cohere's v2 chat. */

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

const STOPS = {
  stop: "COMPLETE",
  length: "MAX_TOKENS",
  tool_calls: "TOOL_CALL",
  content_filter: "ERROR_TOXIC",
} as const;
const MEMBERS = ["model", "messages", "tools", "response_format", "max_tokens", "stream"];
const USAGE = {
  billed_units: { input_tokens: 20, output_tokens: TOKENS.completion },
  tokens: { input_tokens: TOKENS.prompt, output_tokens: TOKENS.completion },
  cached_tokens: TOKENS.cached,
};

export const cohere: Simulator = {
  read(request, url) {
    if (url !== "/v2/chat") throw new Misread(`The path is ${url}.`);
    const body = bodyOf(request);
    knownMembers(body, MEMBERS, "the body");
    const system: string[] = [];
    const turns: Turn[] = [];
    for (const [index, message] of listAt(body.messages, "messages").entries()) {
      const place = `messages[${index}]`;
      if (message.role === "system") system.push(texts(message.content, place));
      else readMessage(message, turns, place);
    }
    const format = objectAt(body.response_format ?? {}, "response_format");
    if (format.json_schema !== undefined && format.type !== "json_object")
      throw new Misread("The format is no json_object.");
    return {
      system: system.join(" "),
      turns,
      tools: listAt(body.tools ?? [], "tools").map((tool) => {
        const { name, parameters } = objectAt(tool.function, "tools");
        return { name: textAt(name, "tools"), schema: objectAt(parameters, "tools") };
      }),
      schema:
        format.json_schema === undefined ? undefined : objectAt(format.json_schema, "json_schema"),
      maxTokens: body.max_tokens as number | undefined,
      stream: body.stream === true,
    };
  },
  reply: ({ text, calls, finish }) => ({
    id: "c1",
    finish_reason: STOPS[finish],
    message: {
      role: "assistant",
      ...(text === "" ? {} : { content: [{ type: "text", text }] }),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ name, input }, index) => ({
              id: `${name}_x${index}`,
              type: "function",
              function: { name, arguments: JSON.stringify(input) },
            })),
          }),
    },
    usage: USAGE,
  }),
  stream: events,
};

function texts(value: JsonValue | undefined, place: string): string {
  if (typeof value === "string") return value;
  return listAt(value, place)
    .map(({ text }) => textAt(text, place))
    .join(" ");
}

function readMessage(message: JsonObject, turns: Turn[], place: string): void {
  const { role, content } = message;
  if (role === "tool") {
    turnOf(turns, "user").results.push({
      id: textAt(message.tool_call_id, place),
      text: texts(content, place),
    });
    return;
  }
  const turn = turnOf(turns, role === "assistant" ? "assistant" : "user");
  for (const call of listAt(message.tool_calls ?? [], place)) {
    if (call.index !== undefined) throw new Misread(`${place} has an index in a call.`);
    const { name, arguments: given } = objectAt(call.function, place);
    turn.calls.push({
      id: textAt(call.id, place),
      name: textAt(name, place),
      input: jsonAt(given, place),
    });
  }
  if (typeof content === "string") turn.texts.push(content);
  else {
    for (const block of listAt(content ?? [], place)) {
      if (block.type === "image_url")
        turn.images.push(imageOfUrl(objectAt(block.image_url, place).url, place));
      else turn.texts.push(textAt(block.text, place));
    }
  }
}

function events({ text, calls, finish }: Said): Buffer {
  const made: JsonObject[] = [
    {
      type: "message-start",
      id: "c1",
      delta: { message: { role: "assistant", content: [], tool_plan: "", tool_calls: [] } },
    },
  ];
  if (text !== "") {
    made.push({
      type: "content-start",
      index: 0,
      delta: { message: { content: { type: "text", text: "" } } },
    });
    for (const piece of pieces(text))
      made.push({
        type: "content-delta",
        index: 0,
        delta: { message: { content: { text: piece } } },
      });
    made.push({ type: "content-end", index: 0 });
  }
  for (const [index, { name, input }] of calls.entries()) {
    const call = (calls: JsonObject): JsonObject => ({ message: { tool_calls: calls } });
    const head = { id: `${name}_x${index}`, type: "function", function: { name, arguments: "" } };
    made.push({ type: "tool-call-start", index, delta: call(head) });
    const given = Object.keys(input).length === 0 ? [] : pieces(JSON.stringify(input));
    for (const piece of given)
      made.push({
        type: "tool-call-delta",
        index,
        delta: call({ function: { arguments: piece } }),
      });
    made.push({ type: "tool-call-end", index });
  }
  made.push({ type: "message-end", delta: { finish_reason: STOPS[finish], usage: USAGE } });
  return eventStream(made, true);
}
