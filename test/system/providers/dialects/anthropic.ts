/** Anthropic's messages, by its own API and by Vertex AI. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { type Asked, Misread, type Said, TOKENS, type Turn } from "./model.ts";
import {
  eventStream,
  imageOf,
  knownMembers,
  listAt,
  objectAt,
  pieces,
  textAt,
  turnOf,
} from "./reading.ts";
import { bodyOf, type Simulator } from "./simulator.ts";

const STOPS = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
} as const;
const MEMBERS = ["max_tokens", "messages", "system", "tools", "output_config", "stream"];

export const anthropic: Simulator = {
  read(request, url) {
    if (url !== "/v1/messages") throw new Misread(`The path is ${url}.`);
    if (
      request.headers["x-api-key"] === undefined ||
      request.headers["anthropic-version"] === undefined
    ) {
      throw new Misread("The key or the version is missing.");
    }
    const { model, ...body } = bodyOf(request);
    textAt(model, "model");
    return readMessages(body, body.stream === true);
  },
  reply: message,
  stream: events,
};

/** Claude on Vertex AI: the model and the stream are in the path, the version in the body. */
export const vertexClaude: Simulator = {
  read(request, url) {
    const method =
      /\/publishers\/anthropic\/models\/claude-[^/:]+:(rawPredict|streamRawPredict)$/.exec(
        url,
      )?.[1];
    if (method === undefined) throw new Misread(`The path is ${url}.`);
    const { anthropic_version: version, ...body } = bodyOf(request);
    if (version !== "vertex-2023-10-16" || body.model !== undefined)
      throw new Misread("The body is not as Vertex AI wants it.");
    return readMessages(body, method === "streamRawPredict");
  },
  reply: message,
  stream: events,
};

function readMessages(body: JsonObject, stream: boolean): Asked {
  knownMembers(body, MEMBERS, "the body");
  const turns: Turn[] = [];
  for (const [index, said] of listAt(body.messages, "messages").entries()) {
    const place = `messages[${index}]`;
    if (said.role !== "user" && said.role !== "assistant")
      throw new Misread(`${place} has the role ${String(said.role)}.`);
    const turn = turnOf(turns, said.role);
    for (const block of listAt(said.content, `${place}.content`))
      readBlock(block, turn, `${place}.content`);
  }
  const format =
    body.output_config === undefined
      ? undefined
      : objectAt(objectAt(body.output_config, "output_config").format, "format");
  return {
    system: body.system === undefined ? "" : texts(body.system, "system"),
    turns,
    tools: listAt(body.tools ?? [], "tools").map((tool) => ({
      name: textAt(tool.name, "tools.name"),
      schema: objectAt(tool.input_schema, "tools.input_schema"),
    })),
    schema:
      format === undefined ? undefined : objectAt(format.schema, "output_config.format.schema"),
    maxTokens: body.max_tokens as number,
    stream,
  };
}

function texts(value: JsonValue | undefined, place: string): string {
  if (typeof value === "string") return value;
  return listAt(value, place)
    .map(({ text }) => textAt(text, place))
    .join(" ");
}

function readBlock(block: JsonObject, turn: Turn, place: string): void {
  switch (block.type) {
    case "text":
      turn.texts.push(textAt(block.text, place));
      break;
    case "image": {
      const { type, media_type: media, data } = objectAt(block.source, place);
      if (type !== "base64") throw new Misread(`${place} has an image that is not in base64.`);
      turn.images.push(imageOf(media, data, place));
      break;
    }
    case "tool_use":
      turn.calls.push({
        id: textAt(block.id, place),
        name: textAt(block.name, place),
        input: objectAt(block.input, place),
      });
      break;
    case "tool_result":
      if (turn.texts.length > 0) throw new Misread(`${place} has a result behind a text.`);
      turn.results.push({
        id: textAt(block.tool_use_id, place),
        text: texts(block.content, place),
      });
      break;
    default:
      throw new Misread(`${place} has a block ${String(block.type)}.`);
  }
}

const INPUT = {
  input_tokens: TOKENS.prompt - TOKENS.cached,
  cache_read_input_tokens: TOKENS.cached,
  cache_creation_input_tokens: 0,
};

function message({ text, calls, finish }: Said): JsonObject {
  const uses = calls.map(({ name, input }, index) => ({
    type: "tool_use",
    id: `toolu_${index}A`,
    name,
    input,
  }));
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [...(text === "" ? [] : [{ type: "text", text }]), ...uses],
    stop_reason: STOPS[finish],
    stop_sequence: null,
    usage: { ...INPUT, output_tokens: TOKENS.completion },
  };
}

function events(said: Said): Buffer {
  const { text, calls, finish } = said;
  const begun = {
    ...message(said),
    content: [],
    stop_reason: null,
    usage: { ...INPUT, output_tokens: 1 },
  };
  const made: JsonObject[] = [{ type: "message_start", message: begun }, { type: "ping" }];
  const block = (index: number, start: JsonObject, deltas: readonly JsonObject[]): void => {
    made.push({ type: "content_block_start", index, content_block: start });
    for (const delta of deltas) made.push({ type: "content_block_delta", index, delta });
    made.push({ type: "content_block_stop", index });
  };
  const offset = text === "" ? 0 : 1;
  if (text !== "")
    block(
      0,
      { type: "text", text: "" },
      pieces(text).map((piece) => ({ type: "text_delta", text: piece })),
    );
  for (const [index, { name, input }] of calls.entries()) {
    // A call without arguments streams none.
    const given = Object.keys(input).length === 0 ? [""] : ["", ...pieces(JSON.stringify(input))];
    const deltas = given.map((piece) => ({ type: "input_json_delta", partial_json: piece }));
    block(index + offset, { type: "tool_use", id: `toolu_${index}A`, name, input: {} }, deltas);
  }
  const usage = { output_tokens: TOKENS.completion };
  made.push(
    { type: "message_delta", delta: { stop_reason: STOPS[finish], stop_sequence: null }, usage },
    { type: "message_stop" },
  );
  return eventStream(made, true);
}
