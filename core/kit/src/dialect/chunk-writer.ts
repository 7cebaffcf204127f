/**
 * Writes streams of another dialect as chunks of the reference dialect, with the bookkeeping that
 * every translator needs.
 */

import {
  type EventForm,
  GatewayError,
  type JsonObject,
  type ProviderRequest,
  type StreamSink,
  type StreamTranslator,
  type UpstreamEvent,
  type Usage,
} from "@sluice/contract";
import { ChunkOutput } from "./chunk-output.ts";
import { finishReason, type FinishTable } from "./finish.ts";
import type { ReplyCall } from "./reply.ts";
import { KeptThoughts } from "./kept-thoughts.ts";
import { type BegunCall, neverBegun, WrittenCalls } from "./written-calls.ts";

/** Translates one stream: it gets each event and writes chunks. */
export type EventHandler = (event: UpstreamEvent) => void;

/** A translator of a dialect without an end mark. `end` runs after the connection closed. */
export interface StreamHandler {
  readonly event: EventHandler;
  readonly end: () => void;
  /** The data of the last of several events of one form, see `StreamTranslator.repeated`. */
  readonly repeated?: (data: string) => void;
}

/** A stream translator whose handler writes through a {@link ChunkWriter}. */
export function createStreamTranslator(
  request: ProviderRequest,
  make: (writer: ChunkWriter) => EventHandler | StreamHandler,
): StreamTranslator {
  const writer = new ChunkWriter(request);
  const made = make(writer);
  const handle = typeof made === "function" ? made : made.event;
  const translator: StreamTranslator = {
    event(event, sink) {
      writer.into(sink);
      handle(event);
    },
  };
  if (typeof made === "function") return translator;
  translator.end = (sink) => {
    writer.into(sink);
    made.end();
  };
  const { repeated } = made;
  if (repeated !== undefined) translator.repeated = (_last, _count, data) => repeated(data);
  return translator;
}

/** `open`: the role is written. `finished`: the finish reason is. `done`: the end is. */
type WriterState = "empty" | "open" | "finished" | "done";

/**
 * Writes chunks: the role in the first one; one id, created and model in all; an index in every
 * tool delta; one finish, then the usage, then the end. Text deltas are written as JSON text
 * directly, without an intermediate object.
 */
export class ChunkWriter {
  readonly #output: ChunkOutput;
  /** Absent until the first kept text. */
  #thoughts: KeptThoughts | undefined;
  /** Absent until the first call. */
  #calls: WrittenCalls | undefined;
  #state: WriterState = "empty";
  #usage: Usage | undefined;

  constructor(request: ProviderRequest) {
    this.#output = new ChunkOutput(request);
  }

  /** Sets the sink of the following chunks. */
  into(sink: StreamSink): void {
    this.#output.into(sink);
  }

  get isFinished(): boolean {
    return this.#state === "finished" || this.#state === "done";
  }

  /** Begins the reply: writes the role. The first delta does this by itself. */
  begin(): void {
    if (this.#state !== "empty") return;
    this.#state = "open";
    this.#output.delta('{"role":"assistant","content":""}', "preamble");
  }

  /** Writes text. `form`: if the event has it alone, see `StreamSink`. `logprobs`: a choice's. */
  text(text: string, form?: EventForm, logprobs?: JsonObject): void {
    if (text === "") return;
    this.begin();
    this.#output.delta(`{"content":${JSON.stringify(text)}}`, "content", logprobs);
    if (form !== undefined) this.#output.sink.form?.(form);
  }

  reasoning(text: string): void {
    if (text === "") return;
    this.begin();
    this.#output.delta(`{"reasoning_content":${JSON.stringify(text)}}`, "content");
  }

  /** Writes a whole block for the client to return: `{type: "thinking", thinking, signature}`. */
  thinkingBlock(block: JsonObject): void {
    this.begin();
    this.#output.delta(`{"thinking_blocks":[${JSON.stringify(block)}]}`, "content");
  }

  /** Writes a part of a thought or of its signature, and keeps it for the thought's block. */
  thought(
    key: string | number,
    { text = "", signature = "" }: { readonly text?: string; readonly signature?: string },
  ): void {
    this.#kept.add(key, text, signature);
    this.reasoning(text);
  }

  /** Ends a thought: its block is written if it was signed. Without a thought it has no effect. */
  thoughtEnd(key: string | number): void {
    const thought = this.#thoughts?.end(key);
    if (thought !== undefined) this.thinkingBlock({ type: "thinking", ...thought });
  }

  /** Writes further members of a delta, for example `annotations`. */
  delta(delta: JsonObject): void {
    this.begin();
    this.#output.delta(JSON.stringify(delta), "content");
  }

  /** Begins a call. `key` is the provider's identifier of the block; the client gets an index. */
  callStart(key: string | number, call: BegunCall): void {
    this.begin();
    this.#calls ??= new WrittenCalls();
    this.#output.delta(this.#calls.begin(key, call), "content");
  }

  /** Writes a part of a call's arguments. Throws `upstream_invalid_response` before its begin. */
  callArguments(key: string | number, piece: string, form?: EventForm): void {
    if (piece === "") return;
    this.#output.delta(this.#begunCalls.argumentsOf(key, piece), "content");
    if (form !== undefined) this.#output.sink.form?.(form);
  }

  /** Ends a call. A call without streamed arguments gets `whole`. */
  callEnd(key: string | number, whole = "{}"): void {
    if (!this.#begunCalls.hasArguments(key)) this.callArguments(key, whole);
  }

  /** Writes a whole call. */
  call(key: string | number, call: ReplyCall): void {
    this.callStart(key, call);
    this.callArguments(key, call.arguments);
    this.callEnd(key);
  }

  /** Sets the finish reason of the choice. The first call counts. */
  finish(native: string | undefined, table: FinishTable, extra: JsonObject = {}): void {
    if (this.isFinished) return;
    this.begin();
    this.#state = "finished";
    this.#output.choice({
      index: 0,
      delta: {},
      finish_reason: finishReason(native, table, this.#calls !== undefined),
      ...(native === undefined ? {} : { native_finish_reason: native }),
      ...extra,
    });
  }

  /** Sets the usage. It is written once, at the end; the last call counts. */
  usage(usage: Usage | undefined): void {
    this.#usage = usage ?? this.#usage;
    this.usageSoFar(usage);
  }

  /** Sets what is reported of the usage so far, for a stream that is cut. It is not written. */
  usageSoFar(usage: Usage | undefined): void {
    if (usage !== undefined) this.#output.sink.usageSoFar?.(usage);
  }

  /** Ends the stream. Throws `upstream_invalid_response` without a finish reason. */
  done(): void {
    if (this.#state === "done") return;
    if (this.#state !== "finished") {
      throw new GatewayError(
        "upstream_invalid_response",
        "The upstream's stream ended without a stop reason.",
      );
    }
    this.#state = "done";
    if (this.#usage !== undefined) this.#output.usage(this.#usage);
    this.#output.sink.done();
  }

  /** Counts text that a translator keeps. Throws `upstream_invalid_response` beyond the bound. */
  keep(text: string): string {
    return this.#kept.keep(text);
  }

  get #kept(): KeptThoughts {
    return (this.#thoughts ??= new KeptThoughts());
  }

  get #begunCalls(): WrittenCalls {
    if (this.#calls === undefined) throw neverBegun();
    return this.#calls;
  }
}
