/** Work on a large body in stages: each stage is a turn of the event loop of its own, so that others are served in between. */

import { nextTurn } from "@sluice/kit/internals";

/** Work that yields wherever it may rest. */
export type Stages<T> = Generator<void, T, undefined>;

/** A body of more bytes than this is worked on in slices; below, every stage together is short. */
export const LARGE_BYTES = 131_072;

/** Whether a body is worked on in slices. */
export function isLarge({ length }: Uint8Array): boolean {
  return length > LARGE_BYTES;
}

/** The result of work that is done without a rest. */
export function atOnce<T>(work: Stages<T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/** The result of work on so many bytes: one stage a turn where they are many, without a rest where they are few. */
export async function inSlices<T>(work: Stages<T>, bytes: number): Promise<T> {
  if (bytes <= LARGE_BYTES) return atOnce(work);
  for (;;) {
    await nextTurn();
    const step = work.next();
    if (step.done === true) {
      // What follows is as long as a stage: it encodes the body for its upstream.
      await nextTurn();
      return step.value;
    }
  }
}
