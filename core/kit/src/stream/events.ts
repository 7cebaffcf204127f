/** Reads server-sent events: bytes to events, any framing, split anywhere. */

import { createParser, type EventSourceMessage, type ParseError } from "eventsource-parser";
import { type EventReader, GatewayError, type UpstreamEvent } from "@sluice/contract";

/** The maximum characters of one event. Images are sent as base64. */
const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;

/** A reader of a text format. */
export interface TextEventReader extends EventReader {
  /** Reads decoded text. */
  pushText(text: string): void;
}

/**
 * A reader that emits each event when its blank line arrives. At the end, an event whose last line
 * is complete counts without it.
 */
export function createEventReader(onEvent: (event: UpstreamEvent) => void): TextEventReader {
  // One decoder for the stream: a character may be split over two chunks.
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let fault: ParseError | undefined;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: onEvent as (message: EventSourceMessage) => void,
    onError(error) {
      // Unknown fields and invalid retry values are ignored; only a full buffer ends the stream.
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
