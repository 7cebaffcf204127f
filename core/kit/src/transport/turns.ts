/** Turns of the event loop: large work is done one piece a turn, across all callers. */

const waiting: (() => void)[] = [];
let isScheduled = false;

/**
 * Resolves in the caller's turn: one caller in each turn of the event loop, in the order of the
 * calls. With a hundred large streams, other work waits for one piece instead of a hundred.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (!isScheduled) schedule();
  });
}

function schedule(): void {
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    waiting.shift()?.();
    if (waiting.length > 0) schedule();
  });
}
