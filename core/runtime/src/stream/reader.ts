/** Selects the reader of a stream's framing by the reply's content type. */

import type { EventReader, StreamFraming, UpstreamEvent } from "@sluice/contract";
import { createEventReader } from "@sluice/kit/internals";

/** A reader for a content type: server-sent events, or the provider's own framing. `undefined` for any other type. */
export function createStreamReader(
  contentType: string,
  own: StreamFraming | undefined,
  onEvent: (event: UpstreamEvent) => void,
): EventReader | undefined {
  const type = contentType.toLowerCase();
  if (type.startsWith("text/event-stream")) return createEventReader(onEvent);
  return own !== undefined && type.startsWith(own.contentType) ? own.createReader(onEvent) : undefined;
}
