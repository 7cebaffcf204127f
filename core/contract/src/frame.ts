/** Streams: the events of an upstream and the framing of their bytes, and the frames of a reply. */

import type { JsonObject } from "./json.ts";
import type { Usage } from "./usage.ts";

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
  /**
   * Reads a chunk. Throws `upstream_invalid_response` for an event that is damaged or over the
   * reader's bound.
   */
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

/**
 * The role of a frame. `content` carries a part of the answer and commits the reply. `preamble`
 * carries none (a role, an empty text). `usage` carries only the usage, and goes to clients that
 * asked for it.
 */
export type FrameRole = "preamble" | "content" | "usage";

/** What a frame depends on of its event. Paths are names and indexes, outermost first. */
export interface EventForm {
  /** Texts that the frame shows as they are. The first one is what the reply says. */
  readonly texts: readonly (readonly (string | number)[])[];
  /**
   * Texts and whole numbers that the frame does not show. `repeated` gets the last event that has
   * them.
   */
  readonly others?: readonly (readonly (string | number)[])[];
}

/** Receives the output of a stream translator. */
export interface StreamSink {
  /** Whether content has been seen. From then on, preamble and content are treated alike. */
  readonly committed: boolean;
  frame(frame: Frame, role: FrameRole): void;
  /** Sets the usage of the attempt. The last call wins. */
  usage(usage: Usage): void;
  /**
   * Sets the usage so far of a reply that may still be cut: an estimate is at least this. Absent:
   * it is not kept.
   */
  usageSoFar?(usage: Usage): void;
  /**
   * Reports that an event was unreadable and left out. The row of the attempt records it. Absent:
   * such events are not counted.
   */
  dropped?(): void;
  /** Whether `form` is of use for this event. Absent: it never is. */
  readonly takesForm?: boolean;
  /**
   * Declares that the event's one frame depends on these of its values alone, and that translating
   * it left nothing else behind but a preamble before the first content. An event that differs in
   * them alone is then not translated: its frame is made of this one. Optional for every
   * translator.
   */
  form?(form: EventForm): void;
  /** Reports the end mark of the stream. */
  done(): void;
}

/**
 * Translates one stream, event by event. Throws a GatewayError when the stream reports an error or
 * breaks its dialect.
 */
export interface StreamTranslator {
  event(event: UpstreamEvent, sink: StreamSink): void;
  /**
   * Frames were made of the declared `form`. The last one and its event's data, for a translator
   * that looks back.
   */
  repeated?(last: Frame, count: number, data: string): void;
  /**
   * The connection closed cleanly, and no end mark was reported. For dialects without an end mark:
   * they decide here whether the reply is whole.
   */
  end?(sink: StreamSink): void;
}
