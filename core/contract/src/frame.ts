/** Streams: the events of an upstream and the framing of their bytes, and the frames of a reply. */

import type { JsonObject } from "./json.ts";

/**
 * One event of a streamed reply, in the reference dialect. A frame that no step reads is written
 * with its original bytes.
 */
export interface Frame {
  /** The data text of the event, while it is unchanged. */
  readonly raw: string | undefined;
  /** The event as an object. Parsed at most once, on first use. */
  chunk(): JsonObject;
}

/** One event of an upstream's stream. */
export interface UpstreamEvent {
  /** The event's type, `undefined` when unnamed. */
  readonly event: string | undefined;
  readonly data: string;
}

/** Turns the bytes of a stream into events. */
export interface EventReader {
  /** Reads a chunk. Throws `upstream_invalid_response` for an event that is damaged or over the reader's bound. */
  push(chunk: Uint8Array): void;
  /** Ends the input. */
  end(): void;
}

/** The framing of a provider whose upstream sends other streams than server-sent events. */
export interface StreamFraming {
  /** The content type of such a stream, in lower case, without parameters. */
  readonly contentType: string;
  /**
   * Whether the first bytes of a reply begin such a stream; `undefined` when that takes more bytes.
   * Replies of native requests are recognised by their bytes: a proxy may have changed the type.
   */
  begins(head: Uint8Array): boolean | undefined;
  /** A reader of one stream. */
  createReader(onEvent: (event: UpstreamEvent) => void): EventReader;
}
