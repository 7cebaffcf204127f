/** Bedrock's Converse: JSON in, JSON or a binary event stream out. */

import type { JsonObject } from "@sluice/contract";
import { eventFrame } from "@sluice/testing";
import { Misread, type Said, TOKENS, type Turn } from "./model.ts";
import {
  imageOf,
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
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "guardrail_intervened",
} as const;
const MEMBERS = ["messages", "system", "inferenceConfig", "toolConfig", "outputConfig"];
const USAGE = {
  inputTokens: TOKENS.prompt - TOKENS.cached,
  outputTokens: TOKENS.completion,
  totalTokens: TOKENS.prompt + TOKENS.completion,
  cacheReadInputTokens: TOKENS.cached,
  cacheWriteInputTokens: 0,
};

export const converse: Simulator = {
  streamType: "application/vnd.amazon.eventstream",
  read(request, url) {
    const method = /^\/model\/[^/]+\/(converse|converse-stream)$/.exec(url)?.[1];
    if (method === undefined) throw new Misread(`The path is ${url}.`);
    const body = bodyOf(request);
    knownMembers(body, MEMBERS, "the body");
    const turns: Turn[] = [];
    for (const [index, message] of listAt(body.messages, "messages").entries()) {
      const place = `messages[${index}]`;
      if (turns.at(-1)?.role === message.role)
        throw new Misread(`${place} has the role of the one before.`);
      const turn = turnOf(turns, message.role === "assistant" ? "assistant" : "user");
      for (const block of listAt(message.content, `${place}.content`))
        readBlock(block, turn, `${place}.content`);
    }
    const config = objectAt(body.toolConfig ?? { tools: [] }, "toolConfig");
    const hasCalls = turns.some(({ calls, results }) => calls.length + results.length > 0);
    if (hasCalls && body.toolConfig === undefined)
      throw new Misread("The history has calls, and the request no tools.");
    return {
      system: listAt(body.system ?? [], "system")
        .map(({ text }) => textAt(text, "system"))
        .join(" "),
      turns,
      tools: listAt(config.tools, "toolConfig.tools").map(({ toolSpec }) => {
        const tool = objectAt(toolSpec, "toolSpec");
        return {
          name: textAt(tool.name, "toolSpec"),
          schema: objectAt(objectAt(tool.inputSchema, "toolSpec").json, "toolSpec"),
        };
      }),
      schema:
        body.outputConfig === undefined
          ? undefined
          : schemaOf(objectAt(body.outputConfig, "outputConfig")),
      maxTokens: objectAt(body.inferenceConfig ?? {}, "inferenceConfig").maxTokens as
        | number
        | undefined,
      stream: method === "converse-stream",
    };
  },
  reply: ({ text, calls, finish }) => {
    const uses = calls.map(({ name, input }, index) => ({
      toolUse: { toolUseId: `tooluse_${index}`, name, input },
    }));
    const content = [...(text === "" ? [] : [{ text }]), ...uses];
    return {
      output: { message: { role: "assistant", content } },
      stopReason: STOPS[finish],
      usage: USAGE,
      metrics: { latencyMs: 3 },
    };
  },
  stream: frames,
};

function schemaOf({ textFormat }: JsonObject): JsonObject {
  const { type, structure } = objectAt(textFormat, "textFormat");
  if (type !== "json_schema") throw new Misread("The format of the text is no schema.");
  return jsonAt(
    objectAt(objectAt(structure, "structure").jsonSchema, "jsonSchema").schema,
    "schema",
  );
}

function readBlock(block: JsonObject, turn: Turn, place: string): void {
  if (block.text !== undefined) turn.texts.push(textAt(block.text, place));
  else if (block.image !== undefined) {
    const { format, source } = objectAt(block.image, place);
    turn.images.push(imageOf(format, objectAt(source, place).bytes, place));
  } else if (block.toolUse !== undefined) {
    const { toolUseId, name, input } = objectAt(block.toolUse, place);
    turn.calls.push({
      id: textAt(toolUseId, place),
      name: textAt(name, place),
      input: objectAt(input, place),
    });
  } else {
    const { toolUseId, content } = objectAt(block.toolResult, place);
    const texts = listAt(content, place).map(({ text }) => textAt(text, place));
    turn.results.push({ id: textAt(toolUseId, place), text: texts.join(" ") });
  }
}

function frames({ text, calls, finish }: Said): Buffer {
  const made: Buffer[] = [];
  const frame = (type: string, payload: JsonObject): void => {
    const headers = {
      ":event-type": type,
      ":content-type": "application/json",
      ":message-type": "event",
    };
    made.push(
      eventFrame(headers, JSON.stringify({ ...payload, p: "abcdefghij".slice(made.length % 10) })),
    );
  };
  frame("messageStart", { role: "assistant" });
  for (const piece of pieces(text))
    frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: piece } });
  if (text !== "") frame("contentBlockStop", { contentBlockIndex: 0 });
  for (const [index, { name, input }] of calls.entries()) {
    const contentBlockIndex = index + (text === "" ? 0 : 1);
    frame("contentBlockStart", {
      contentBlockIndex,
      start: { toolUse: { toolUseId: `tooluse_${index}`, name } },
    });
    const given = Object.keys(input).length === 0 ? [] : pieces(JSON.stringify(input));
    for (const piece of given)
      frame("contentBlockDelta", { contentBlockIndex, delta: { toolUse: { input: piece } } });
    frame("contentBlockStop", { contentBlockIndex });
  }
  frame("messageStop", { stopReason: STOPS[finish] });
  frame("metadata", { usage: USAGE, metrics: { latencyMs: 3 } });
  return Buffer.concat(made);
}
