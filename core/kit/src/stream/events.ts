/** Reads server-sent events: bytes to events, any framing, split anywhere. */

import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { EventReader, UpstreamEvent } from "@sluice/contract";
import { checkEvent, LineCount, MAX_EVENT_CHARACTERS, tooLargeEvent } from "./event-bounds.ts";

/** A reader of a text format. */
export interface TextEventReader extends EventReader {
  /** Reads decoded text. */
  pushText(text: string): void;
}

/**
 * A reader that emits each event when its blank line arrives. At the end, an event whose last line
 * is complete counts without it. Unknown fields and invalid retry values are ignored.
 */
export function createEventReader(onEvent: (event: UpstreamEvent) => void): TextEventReader {
  // One decoder for the stream: a character may be split over two chunks.
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  // The parser makes an error with a stack for each line with an unknown field, if it has
  // `onError`: 17 microseconds for two bytes. A full buffer is found without it, by the next call.
  let hasEvent = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: (message: EventSourceMessage) => {
      hasEvent = true;
      checkEvent(message.data);
      onEvent(message as UpstreamEvent);
    },
  });
  /** The parser keeps no more characters than these. */
  let kept = 0;
  let lines: LineCount | undefined;
  let isLineComplete = false;
  const pushText = (text: string): void => {
    hasEvent = false;
    parser.feed(text);
    kept = hasEvent ? text.length : kept + text.length;
    lines = LineCount.next(lines, text, hasEvent);
    if (kept > MAX_EVENT_CHARACTERS) assertOpen(parser);
    if (text !== "") isLineComplete = text.endsWith("\n") || text.endsWith("\r");
  };
  return {
    push(chunk) {
      decoder ??= new TextDecoder("utf-8");
      pushText(decoder.decode(chunk, { stream: true }));
    },
    pushText,
    end() {
      // Two, because the first may be the second half of a CR LF.
      if (isLineComplete) pushText("\n\n");
    },
  };
}

/** Throws for a parser whose buffer was full. */
function assertOpen(parser: ReturnType<typeof createParser>): void {
  try {
    parser.feed("");
  } catch (cause) {
    throw tooLargeEvent(cause);
  }
}
