/** Frames: the events of a streamed reply. */

import type { JsonObject } from "./json.ts";

/**
 * One event of a streamed reply, in the reference dialect. A frame that no step looks into is written as it came.
 */
export interface Frame {
  /** The data text of the event while nobody has changed it. */
  readonly raw: string | undefined;
  /** The event as an object. Parsed at most once, on first use. */
  chunk(): JsonObject;
}
