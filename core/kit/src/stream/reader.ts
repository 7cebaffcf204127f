/** The reader of a stream's framing, by the reply's content type. */

import type { UpstreamEvent } from "@sluice/spec";
import { createEventReader, type EventReader } from "./events.ts";

/** A reader for a content type; `undefined` for one that is no stream that the gateway can read. */
export function createStreamReader(contentType: string, onEvent: (event: UpstreamEvent) => void): EventReader | undefined {
  return contentType.startsWith("text/event-stream") ? createEventReader(onEvent) : undefined;
}
