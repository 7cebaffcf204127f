/** Server-sent events in: bytes to events, any framing, split anywhere. */

import { createParser, type EventSourceMessage, type ParseError } from "eventsource-parser";
import { GatewayError, type UpstreamEvent } from "@sluice/spec";

/** One event may hold this many characters at most: images travel as base64. */
const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;

/** Turns chunks of an event stream into events. */
export interface EventReader {
  /** Takes a chunk. Throws `upstream_invalid_response` when an event is larger than the bound. */
  push(chunk: Uint8Array): void;
  /** Nothing more comes. An event whose last line is complete counts, even without its blank line. */
  end(): void;
}

/** A reader of a format that is text. */
export interface TextEventReader extends EventReader {
  /** Takes text that is already decoded. */
  pushText(text: string): void;
}

/** A reader that hands each event on as soon as its blank line has arrived. */
export function createEventReader(onEvent: (event: UpstreamEvent) => void): TextEventReader {
  // One decoder for the stream: a character may be split over two chunks.
  const decoder = new TextDecoder("utf-8");
  let fault: ParseError | undefined;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: onEvent as (message: EventSourceMessage) => void,
    onError(error) {
      // Unknown fields and odd retry values are the sender's business; only a full buffer ends the stream.
      if (error.type !== "unknown-field" && error.type !== "invalid-retry") fault = error;
    },
  });
  let isLineComplete = false;
  const pushText = (text: string): void => {
    parser.feed(text);
    if (text !== "") isLineComplete = text.endsWith("\n") || text.endsWith("\r");
    if (fault !== undefined) {
      throw new GatewayError(
        "upstream_invalid_response",
        "An event of the upstream's stream is larger than the gateway accepts.",
        {
          cause: fault,
        },
      );
    }
  };
  return {
    push: (chunk) => pushText(decoder.decode(chunk, { stream: true })),
    pushText,
    end() {
      // Two, because the first may be the second half of a CR LF.
      if (isLineComplete) pushText("\n\n");
    },
  };
}
