/** Streams: how a provider's translator reads events and writes frames. */

import type { Frame, UpstreamEvent } from "./frame.ts";
import type { Usage } from "./usage.ts";

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
  /** Texts and whole numbers that the frame does not show. `repeated` gets the last event that has them. */
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
   * Reports that an event was unreadable and left out. The row of the attempt records it. Absent:
   * such events are not counted.
   */
  dropped?(): void;
  /** Whether `form` is of use for this event. Absent: it never is. */
  readonly takesForm?: boolean;
  /**
   * Declares that the event's one frame depends on these of its values alone, and that translating it left nothing else
   * behind. An event that differs in them alone is then not translated: its frame is made of this one. Optional for every
   * translator.
   */
  form?(form: EventForm): void;
  /** Reports the end mark of the stream. */
  done(): void;
}

/** Translates one stream, event by event. Throws a GatewayError when the stream reports an error or breaks its dialect. */
export interface StreamTranslator {
  event(event: UpstreamEvent, sink: StreamSink): void;
  /** Frames were made of the declared `form`. The last one and its event's data, for a translator that looks back. */
  repeated?(last: Frame, count: number, data: string): void;
  /**
   * The connection closed cleanly, and no end mark was reported. For dialects without an end mark:
   * they decide here whether the reply is whole.
   */
  end?(sink: StreamSink): void;
}
