/** Plays a stream through a provider's translator as the transport does, without a connection. */

import {
  type Frame,
  type FrameRole,
  type GatewayError,
  isGatewayError,
  type JsonObject,
  type JsonValue,
  type Price,
  type Provider,
  type ProviderRequest,
  type StreamSink,
  type Usage,
} from "@sluice/contract";
import { createStreamReader } from "@sluice/runtime/internals";
import { must } from "./fault.ts";
import { shownError, shownUsage } from "./outcome.ts";

/** What came of a stream. */
export interface PlayedStream {
  readonly frames: readonly { readonly role: FrameRole; readonly text: string }[];
  readonly usage: Usage | undefined;
  /** How often the translator said that the stream is done. */
  readonly dones: number;
  readonly error: GatewayError | undefined;
  /** How many events the translator was given. */
  readonly events: number;
}

/** Bounds of a play. */
export interface PlayOptions {
  readonly contentType: string;
  /** Where the bytes are cut in two; absent: they come at once. `each`: every byte comes alone. */
  readonly cut?: number | "each";
  /** The stream is given up after this many events. */
  readonly events?: number;
}

/** Plays the bytes. Throws whatever is no GatewayError: a translator's own fault. */
export function playStream(
  provider: Provider,
  bytes: Uint8Array,
  request: ProviderRequest,
  options: PlayOptions,
): PlayedStream {
  const sink = new CollectingSink();
  const translator = provider.stream(request);
  let events = 0;
  let isTranslating = false;
  const reader = createStreamReader(options.contentType, provider.framing, (event) => {
    if (sink.dones > 0 || events >= (options.events ?? Infinity)) return;
    events++;
    isTranslating = true;
    translator.event(event, sink);
    isTranslating = false;
  });
  must(reader !== undefined, `No stream can be read from ${options.contentType}.`);
  let error: GatewayError | undefined;
  try {
    if (options.cut === "each")
      for (let at = 0; at < bytes.length; at++) reader.push(bytes.subarray(at, at + 1));
    else {
      const cut = options.cut ?? bytes.length;
      if (cut > 0) reader.push(bytes.subarray(0, cut));
      if (cut < bytes.length) reader.push(bytes.subarray(cut));
    }
    if (options.events === undefined && sink.dones === 0) {
      reader.end();
      if (sink.dones === 0) translator.end?.(sink);
    }
  } catch (thrown) {
    if (!isGatewayError(thrown)) throw thrown;
    // A stream that was given up meets no damage of its framing any more.
    if (isTranslating || options.events === undefined) error = thrown;
  }
  return { frames: sink.frames, usage: sink.last, dones: sink.dones, error, events };
}

class CollectingSink implements StreamSink {
  committed = false;
  readonly frames: { role: FrameRole; text: string }[] = [];
  last: Usage | undefined;
  dones = 0;

  frame(frame: Frame, role: FrameRole): void {
    must(this.dones === 0, "A frame came after the stream was done.");
    if (role === "content") this.committed = true;
    this.frames.push({ role, text: frame.raw ?? JSON.stringify(frame.chunk()) });
  }

  usage(usage: Usage): void {
    this.last = usage;
  }

  done(): void {
    this.dones++;
  }
}

/** What came of a stream, as data that a case can expect. */
export function shownStream(played: PlayedStream, price: Price | undefined): JsonObject {
  return {
    frames: played.frames.map(({ role, text }): JsonValue => [role, JSON.parse(text) as JsonValue]),
    ...shownUsage(played.usage, price),
    end:
      played.error === undefined
        ? played.dones > 0
          ? "done"
          : "open"
        : { error: shownError(played.error) },
  };
}

/** A text that is equal exactly when two plays gave the same. */
export function fingerprint({ frames, usage, dones, error }: PlayedStream): string {
  const texts = frames.map(({ role, text }) => `${role} ${text}`).join("\n");
  return `${texts}\n${JSON.stringify(usage ?? null)} ${dones} ${error === undefined ? "" : error.code + error.message}`;
}
