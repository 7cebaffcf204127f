/** Converse's replies as chat completions: whole, and as streams of frames. */

import { isObject } from "@sluice/kit";
import {
  chatReply,
  type ChunkWriter,
  createStreamTranslator,
  type FinishTable,
  invalidReply,
  Members,
  readJsonBody,
  readJsonEvent,
  Reference,
  type ToolNames,
} from "@sluice/kit/dialect";
import { Native } from "@sluice/kit/passthrough";
import type {
  DecodedReply,
  EventForm,
  JsonObject,
  JsonValue,
  ProviderRequest,
  StreamTranslator,
} from "@sluice/contract";
import { exceptionOf } from "./errors.ts";
import { EXCEPTION_PREFIX } from "./event-frames.ts";

/**
 * `StopReason` of @aws-sdk/client-bedrock-runtime 3.1162.0; `malformed_…` mean a stop with a word
 * of their own.
 */
const FINISH: FinishTable = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  guardrail_intervened: "content_filter",
  content_filtered: "content_filter",
  malformed_model_output: "stop",
  malformed_tool_use: "stop",
};

/** A whole reply. Throws `upstream_invalid_response` for one without a message. */
export function decodeConverse(
  body: Uint8Array,
  request: ProviderRequest,
  names: ToolNames.NameMap,
): DecodedReply {
  const reply = readJsonBody(body);
  const message = isObject(reply.output) ? reply.output.message : undefined;
  if (!isObject(message) || !Array.isArray(message.content)) throw invalidReply("has no message");
  const blocks = Members.readObjects(message.content);
  const exact = new Members.ExactValues({ value: reply, bytes: body });
  const citations = blocks.flatMap(({ citationsContent: cited }) =>
    isObject(cited) ? Members.readObjects(cited.citations) : [],
  );
  const others = blocks
    .filter((block) => !Object.keys(block).some((kind) => KNOWN_BLOCKS.has(kind)))
    .map((block) => exact.of(block));
  return chatReply(request, {
    text: blocks.map(textOf).join(""),
    reasoning: blocks.map(({ reasoningContent: thought }) => thoughtText(thought)).join(""),
    thinkingBlocks: blocks.flatMap(({ reasoningContent: thought }) =>
      isObject(thought) ? thinkingBlock(thought) : [],
    ),
    calls: blocks.flatMap(({ toolUse: call }) =>
      isObject(call) && typeof call.toolUseId === "string" && typeof call.name === "string"
        ? [
            {
              id: call.toolUseId,
              name: names.toClient(call.name),
              arguments: exact.written(call.input ?? {}),
            },
          ]
        : [],
    ),
    nativeFinish: typeof reply.stopReason === "string" ? reply.stopReason : undefined,
    finishTable: FINISH,
    usage: Native.readUsage(reply),
    message: {
      ...(citations.length === 0 ? {} : { citations }),
      ...orderOf(blocks),
      ...(others.length === 0 ? {} : { provider_blocks: others }),
    },
    choice: nativeMembers(reply),
  });
}

/** The order of a reply whose thoughts are all signed: the client must return it so. */
function orderOf(blocks: readonly JsonObject[]): JsonObject {
  const parts: Reference.ReplyPart[] = [];
  for (const block of blocks) {
    const { reasoningContent: thought, toolUse: call } = block;
    if (thought !== undefined) {
      if (!isObject(thought) || thinkingBlock(thought).length === 0) return {};
      parts.push({ type: "thinking" });
    } else if (call !== undefined) parts.push({ type: "tool_use" });
    else if (block.text !== undefined || block.citationsContent !== undefined)
      parts.push({ type: "text", length: textOf(block).length });
    else parts.push({ type: "provider" });
  }
  return Reference.contentOrder(parts);
}

const KNOWN_BLOCKS = new Set(["text", "toolUse", "reasoningContent", "citationsContent"]);

/**
 * Additional reply members that the client requested: fields of the model's own, a guardrail's
 * trace.
 */
function nativeMembers({ additionalModelResponseFields: fields, trace }: JsonObject): JsonObject {
  return {
    ...(isObject(fields) ? { additionalModelResponseFields: fields } : {}),
    ...(isObject(trace) ? { trace } : {}),
  };
}

function textOf({ text, citationsContent: cited }: JsonObject): string {
  if (typeof text === "string") return text;
  if (!isObject(cited)) return "";
  return Members.readObjects(cited.content)
    .map((piece) => (typeof piece.text === "string" ? piece.text : ""))
    .join("");
}

function thoughtText(thought: JsonValue | undefined): string {
  const { reasoningText: said } = isObject(thought) ? thought : {};
  return isObject(said) && typeof said.text === "string" ? said.text : "";
}

/** A thought for the client to send back. Without a signature, the client need not send it. */
function thinkingBlock({ reasoningText: said, redactedContent: data }: JsonObject): JsonObject[] {
  if (typeof data === "string") return [{ type: "redacted_thinking", data }];
  if (!isObject(said) || typeof said.signature !== "string" || said.signature === "") return [];
  return [
    {
      type: "thinking",
      thinking: typeof said.text === "string" ? said.text : "",
      signature: said.signature,
    },
  ];
}

/** A translator of one stream. `names` is called once, when a tool call begins. */
export function translateStream(
  request: ProviderRequest,
  names: () => ToolNames.NameMap,
): StreamTranslator {
  // A guardrail's trace comes with the usage: the finish that carries it waits for them.
  const isTraced = request.document.value.guardrailConfig !== undefined;
  return createStreamTranslator(request, (writer) => {
    const blocks = new Map<JsonValue | undefined, Block>();
    let stop: JsonObject | undefined;
    const finish = (metadata: JsonObject): void => {
      if (stop === undefined) return;
      const native = typeof stop.stopReason === "string" ? stop.stopReason : undefined;
      writer.finish(native, FINISH, nativeMembers({ ...stop, ...metadata }));
    };
    return ({ event, data }) => {
      if (event?.startsWith(EXCEPTION_PREFIX) === true)
        throw exceptionOf(event.slice(EXCEPTION_PREFIX.length), data);
      switch (event) {
        case "contentBlockDelta":
          delta(readExactEvent(data), blocks, writer);
          break;
        case "contentBlockStart":
          start(readExactEvent(data), blocks, writer, names);
          break;
        case "contentBlockStop":
          end(readJsonEvent(data), blocks, writer);
          break;
        case "messageStart":
          writer.begin();
          break;
        case "messageStop":
          stop = readJsonEvent(data);
          if (!isTraced) finish({});
          break;
        case "metadata": {
          const metadata = readJsonEvent(data);
          finish(metadata);
          writer.usage(Native.readUsage(metadata));
          writer.done();
          break;
        }
        default:
        // Future members of the API.
      }
    };
  });
}

interface Block {
  isCall: boolean;
  /** Bytes, each piece encoded by itself. */
  readonly redacted: Buffer[];
  /** The beginning of a kind that no chat completion has a place for. */
  other: JsonObject;
}

/** A block; texts and thoughts begin with their first piece. */
function blockOf(index: JsonValue | undefined, blocks: Map<JsonValue | undefined, Block>): Block {
  let block = blocks.get(index);
  if (block === undefined) {
    block = { isCall: false, redacted: [], other: {} };
    blocks.set(index, block);
  }
  return block;
}

/** An event with the numbers of its text. */
function readExactEvent(data: string): JsonObject {
  const event = readJsonEvent(data);
  const exact = new Members.ExactValues({ value: event, bytes: data }).of(event);
  return isObject(exact) ? exact : event;
}

function start(
  event: JsonObject,
  blocks: Map<JsonValue | undefined, Block>,
  writer: ChunkWriter,
  names: () => ToolNames.NameMap,
): void {
  const { start: begun, contentBlockIndex: index } = event;
  if (!isObject(begun)) return;
  const block = blockOf(index, blocks);
  if (!isObject(begun.toolUse)) {
    block.other = begun;
    return;
  }
  const { toolUseId, name } = begun.toolUse;
  if (typeof toolUseId !== "string" || typeof name !== "string")
    throw invalidReply("has a call without an id or a name");
  block.isCall = true;
  writer.callStart(String(index), { id: toolUseId, name: names().toClient(name) });
}

/**
 * Events with a piece of a text, or of a call's input, differ in that piece and in `p` alone: `p`
 * pads events to hide the lengths of texts.
 */
const TEXT_FORM: EventForm = { texts: [["delta", "text"]], others: [["p"]] };
const INPUT_FORM: EventForm = { texts: [["delta", "toolUse", "input"]], others: [["p"]] };

function delta(
  event: JsonObject,
  blocks: Map<JsonValue | undefined, Block>,
  writer: ChunkWriter,
): void {
  const { delta: piece, contentBlockIndex: index } = event;
  if (!isObject(piece)) return;
  if (typeof piece.text === "string") {
    writer.text(piece.text, TEXT_FORM);
    return;
  }
  const block = blockOf(index, blocks);
  if (isObject(piece.toolUse)) {
    if (typeof piece.toolUse.input === "string")
      writer.callArguments(String(index), piece.toolUse.input, INPUT_FORM);
  } else if (isObject(piece.reasoningContent)) {
    const { text, signature, redactedContent } = piece.reasoningContent;
    writer.thought(String(index), {
      text: Members.textIn(text) ?? "",
      signature: Members.textIn(signature) ?? "",
    });
    if (typeof redactedContent === "string")
      block.redacted.push(Buffer.from(writer.keep(redactedContent), "base64"));
  } else if (isObject(piece.citation)) {
    writer.delta({ citations: [piece.citation] });
  } else {
    writer.delta({ provider_blocks: [joined(block.other, piece)] });
  }
}

/**
 * A piece, joined with the facts of the block's start: `{image: {format}}` and `{image: {source}}`.
 */
function joined(begun: JsonObject, piece: JsonObject): JsonObject {
  const entries = Object.entries(piece).map(([kind, value]): [string, JsonValue | undefined] => {
    const before = begun[kind];
    return [kind, isObject(before) && isObject(value) ? { ...before, ...value } : value];
  });
  return Object.fromEntries(entries);
}

function end(
  event: JsonObject,
  blocks: Map<JsonValue | undefined, Block>,
  writer: ChunkWriter,
): void {
  const index = event.contentBlockIndex;
  const block = blocks.get(index);
  if (block === undefined) return;
  if (block.isCall) writer.callEnd(String(index));
  if (block.redacted.length > 0) {
    writer.thinkingBlock({
      type: "redacted_thinking",
      data: Buffer.concat(block.redacted).toString("base64"),
    });
  }
  writer.thoughtEnd(String(index));
}
