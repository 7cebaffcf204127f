/** Selects the reader of a stream's framing by the reply's content type. */

import type { UpstreamEvent } from "@sluice/contract";
import { createFrameReader } from "@sluice/kit/internals";
import { createEventReader, type EventReader } from "@sluice/kit/internals";

/** Content types and their readers. */
const READERS: readonly (readonly [string, (onEvent: (event: UpstreamEvent) => void) => EventReader])[] = [
  ["text/event-stream", createEventReader],
  ["application/vnd.amazon.eventstream", createFrameReader],
];

/** A reader for a content type; `undefined` for a type without a reader. */
export function createStreamReader(contentType: string, onEvent: (event: UpstreamEvent) => void): EventReader | undefined {
  const type = contentType.toLowerCase();
  return READERS.find(([prefix]) => type.startsWith(prefix))?.[1](onEvent);
}
