/** Frames: the events of a streamed reply. */

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
