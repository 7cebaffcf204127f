/** Turns of the event loop: work that comes in large pieces is done one piece a turn, whoever's it is. */

const waiting: (() => void)[] = [];
let isScheduled = false;

/**
 * Resolves when it is the caller's turn: one caller in each turn of the event loop, in the order in which they asked. A
 * hundred large streams at once so delay everybody else by one piece, and not by a hundred.
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
