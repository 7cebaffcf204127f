/**
 * Work on a large body in stages. Each stage is one turn of the event loop, so that other requests
 * are served between them.
 */

import { Stages } from "@sluice/kit";
import { type Ending, inTurns, nextTurn } from "@sluice/kit/internals";

/** A larger body is handled in stages. For a smaller one all stages together are short. */
export const LARGE_BYTES = 131_072;

/** Whether a body is handled in stages. */
export function isLarge({ length }: Uint8Array): boolean {
  return length > LARGE_BYTES;
}

/**
 * Runs work on this many bytes: one stage per turn for a large body, without a pause for a small
 * one. Rejects with the reason of an ending that comes between two stages.
 */
export async function inSlices<T>(work: Stages.Of<T>, bytes: number, ending: Ending): Promise<T> {
  if (bytes <= LARGE_BYTES) return Stages.atOnce(work);
  const made = await inTurns(work, ending);
  // The next work, encoding the body for its upstream, takes as long as a stage.
  await nextTurn(ending);
  return made;
}
