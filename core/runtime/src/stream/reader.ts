/** Selects the reader of a stream's framing by the reply's content type. */

import type { EventReader, StreamFraming, UpstreamEvent } from "@sluice/contract";
import { checkEvent, createEventReader, FormedEventReader } from "@sluice/kit/internals";
import type { FormedOutput } from "./output.ts";

const TEXT_EVENTS = "text/event-stream";

/**
 * A reader for a content type: server-sent events, or the provider's own framing. `undefined` for
 * any other type.
 */
export function createStreamReader(
  contentType: string,
  own: StreamFraming | undefined,
  onEvent: (event: UpstreamEvent) => void,
): EventReader | undefined {
  return readerFor(contentType, own, () => createEventReader(onEvent), onEvent);
}

/** The same for an output that takes events of one form together. */
export function createFormedReader(
  contentType: string,
  own: StreamFraming | undefined,
  output: FormedOutput,
): EventReader | undefined {
  return readerFor(
    contentType,
    own,
    () => new FormedEventReader(output),
    (event) => output.framedEvent(event),
  );
}

function readerFor(
  contentType: string,
  own: StreamFraming | undefined,
  textReader: () => EventReader,
  onEvent: (event: UpstreamEvent) => void,
): EventReader | undefined {
  const type = contentType.toLowerCase();
  if (type.startsWith(TEXT_EVENTS)) return textReader();
  return own !== undefined && type.startsWith(own.contentType)
    ? own.createReader((event) => {
        checkEvent(event.data);
        onEvent(event);
      })
    : undefined;
}
