/**
 * What one event of a stream may hold. An event is parsed and translated in one turn of the event
 * loop: what takes too long for that is refused. See
 * core/decisions/2026-11-29-bounds-of-replies.md.
 */

import { GatewayError } from "@sluice/contract";
import { excessOf, type TextBounds } from "../json/bounds/counted.ts";

/** The maximum characters of one event. Images are sent as base64. */
export const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;

/** Smaller events are not counted: they hold less than each bound. */
const SMALL_CHARACTERS = 65_536;
const BOUNDS: TextBounds = {
  // The last event of the Responses API repeats all log probabilities of a text.
  members: 400_000,
  names: 50_000,
  values: 1_000_000,
  containers: 400_000,
  depth: 128,
  escapes: 524_288,
};
/** Bytes of UTF-8 beyond one for each character: a million characters of most other scripts. */
const MAX_EXTRA_BYTES = 2 * 1024 * 1024;

/** Throws `upstream_invalid_response` for an event that takes a turn of the event loop too long. */
export function checkEvent(data: string): void {
  if (data.length <= SMALL_CHARACTERS) return;
  if (data.length > MAX_EVENT_CHARACTERS) throw tooLargeEvent();
  if (Buffer.byteLength(data) - data.length > MAX_EXTRA_BYTES)
    throw refused(`more than ${MAX_EXTRA_BYTES} bytes of characters that take several`);
  const excess = excessOf([data], BOUNDS);
  if (excess !== undefined) throw refused(excess);
}

/** Maximum lines of one event's data: the parser joins them one by one. */
const MAX_LINES = 100_000;
/** A shorter text is not searched for lines. */
const LINED_CHARACTERS = 16_384;
const LINE = "\ndata:";

/** The lines of data of an event that has not ended. */
export class LineCount {
  #lines = 0;

  /** Counts the lines of a further text. Throws `upstream_invalid_response` beyond the bound. */
  static next(
    count: LineCount | undefined,
    text: string,
    hasEnded: boolean,
  ): LineCount | undefined {
    if (hasEnded) return undefined;
    if (text.length < LINED_CHARACTERS) return count;
    const counted = count ?? new LineCount();
    for (let at = text.indexOf(LINE); at >= 0; at = text.indexOf(LINE, at + LINE.length))
      counted.#lines++;
    if (counted.#lines > MAX_LINES) throw refused(`more than ${MAX_LINES} lines`);
    return counted;
  }
}

/** The refusal of an event with too many characters. */
export function tooLargeEvent(cause?: unknown): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    "An event of the upstream's stream is larger than the gateway accepts.",
    { cause },
  );
}

function refused(excess: string): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    `An event of the upstream's stream has ${excess}.`,
  );
}
