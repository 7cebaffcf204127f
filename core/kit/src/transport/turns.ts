/**
 * Turns of the event loop: large work is done one piece a turn, across all callers. Keys are served
 * in round-robin order.
 */

import type * as Stages from "../stages.ts";
import type { Ending } from "../state/late-signal.ts";
import { type Holder, holderOf } from "../state/parts.ts";
import { type Waiter, WaitQueue } from "../state/wait-queue.ts";

/** A longer piece is followed by turns for other work alone. */
const LONG_MS = 0.5;
/**
 * Turns for other work behind a long piece. A small request takes several turns: with one piece
 * between each two of them it would wait for as many pieces.
 */
const OTHER_TURNS = 4;
/** Other work that takes long itself has fewer: the next piece may begin so long after its end. */
const MAX_REST_MS = 6;

/** A piece of work that waits for its turn. */
interface Piece extends Waiter {
  readonly begin: () => void;
}

const waiting = new WaitQueue<Piece>();
let isScheduled = false;
/** The begin of the last piece, and the first turn behind it. */
let beganMs = -Infinity;
let restedMs = 0;
/** The turns since. */
let others = OTHER_TURNS;

/**
 * Resolves in the caller's turn: one caller in each turn of the event loop. With a hundred large
 * streams, other work waits for one piece instead of a hundred. Keys are served in round-robin
 * order, the calls of one key in the order of the calls: a key with hundreds of pieces does not
 * hold up another key's. `ending`: of the caller's work. Rejects with its reason where it has come
 * by then. `holder`: absent, that of the ending; callers without one are one holder together.
 */
export function nextTurn(
  ending?: Ending,
  holder: Holder = ending?.holder ?? holderOf(undefined),
): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin =
      ending === undefined
        ? resolve
        : () => {
            if (ending.aborted) reject(ending.reason);
            else resolve();
          };
    waiting.add({ holder, begin });
    if (!isScheduled) schedule();
  });
}

/**
 * Runs work with each stage in a turn of its own. Rejects with the reason of an ending that comes
 * before its end: the rest is not done. Absent: all of it is done. `holder`: as of `nextTurn`.
 */
export async function inTurns<T>(work: Stages.Of<T>, ending?: Ending, holder?: Holder): Promise<T> {
  for (;;) {
    await nextTurn(ending, holder);
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Runs the first stage of work at once, and the others as `inTurns` does. */
export function beginNow<T>(work: Stages.Of<T>, ending?: Ending, holder?: Holder): T | Promise<T> {
  const step = work.next();
  return step.done === true ? step.value : inTurns(work, ending, holder);
}

function schedule(): void {
  isScheduled = true;
  setImmediate(pass);
}

/** Runs the next piece, or leaves the turn to other work. There is a turn behind each piece. */
function pass(): void {
  const nowMs = performance.now();
  if (others === 0) restedMs = nowMs;
  const isLong = restedMs - beganMs > LONG_MS;
  const isResting = isLong && others < OTHER_TURNS && nowMs - restedMs < MAX_REST_MS;
  const next = isResting ? undefined : waiting.next();
  if (next === undefined) {
    others += 1;
  } else {
    beganMs = nowMs;
    others = 0;
    next.begin();
  }
  isScheduled = false;
  if (next !== undefined || waiting.length > 0) schedule();
}
