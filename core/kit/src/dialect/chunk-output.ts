/** Chunks of the reference dialect, with the members that all chunks of one stream share. */

import type { FrameRole, JsonObject, ProviderRequest, StreamSink, Usage } from "@sluice/contract";
import { chunkFrame, rawFrame } from "../openai/stream.ts";
import { usageJson } from "./usage.ts";

const OBJECT = "chat.completion.chunk";

/** Writes the chunks of one stream: one id, created and model in all. */
export class ChunkOutput {
  readonly #base: JsonObject;
  /** A chunk's JSON text up to its delta. */
  readonly #head: string;
  #sink: StreamSink | undefined;

  constructor({ replyId: id, createdSeconds: created, replyModel: model }: ProviderRequest) {
    this.#base = { id, object: OBJECT, created, model };
    // Two texts alone need escapes: this is written for every stream.
    this.#head =
      `{"id":${JSON.stringify(id)},"object":"${OBJECT}","created":${created},` +
      `"model":${JSON.stringify(model)},"choices":[{"index":0,"delta":`;
  }

  /** Sets the sink of the following chunks. */
  into(sink: StreamSink): void {
    this.#sink = sink;
  }

  /** The sink. Throws outside of an event. */
  get sink(): StreamSink {
    if (this.#sink === undefined) throw new Error("A chunk was written outside of an event.");
    return this.#sink;
  }

  /** Writes a delta, given as JSON text. `logprobs`: those of its tokens. */
  delta(delta: string, role: FrameRole, logprobs?: JsonObject): void {
    const known = logprobs === undefined ? "" : `,"logprobs":${JSON.stringify(logprobs)}`;
    this.sink.frame(rawFrame(`${this.#head}${delta}${known},"finish_reason":null}]}`), role);
  }

  /** Writes a choice. */
  choice(choice: JsonObject): void {
    this.sink.frame(chunkFrame({ ...this.#base, choices: [choice] }), "content");
  }

  /** Reports the usage and writes its chunk. */
  usage(usage: Usage): void {
    this.sink.usage(usage);
    const tier = usage.serviceTier;
    const named = tier === undefined ? this.#base : { ...this.#base, service_tier: tier };
    this.sink.frame(chunkFrame({ ...named, choices: [], usage: usageJson(usage) }), "usage");
  }
}
