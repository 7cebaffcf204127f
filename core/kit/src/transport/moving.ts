/** Large bodies share the bytes that one turn of the event loop reads and writes. */

import { type Holder, holderOf } from "../state/parts.ts";
import { type Waiter, WaitQueue } from "../state/wait-queue.ts";

/**
 * Maximum bytes of all large bodies in one turn. One event of the loop reads up to 2 MiB of each
 * socket (libuv: 32 times 64 KiB), and a write goes on while the socket takes it: a turn for fifty
 * bodies would copy 100 MiB.
 */
const TURN_BYTES = 262_144;
/** Bodies that go on in one turn: a read is up to 64 KiB. */
const TURN_BODIES = 4;

/** A paused body. */
interface PausedBody extends Waiter {
  readonly goOn: () => void;
}

const waiting = new WaitQueue<PausedBody>();
let movedBytes = 0;
let isScheduled = false;

/**
 * Counts bytes of a large body. Returns whether more may be moved in this turn. If not, the body is
 * to be paused, and goes on by `moveLater`.
 */
export function mayMoveOn(bytes: number): boolean {
  schedule();
  movedBytes += bytes;
  return movedBytes < TURN_BYTES;
}

/**
 * Lets a paused body go on in a later turn. Keys are served in round-robin order, the bodies of one
 * key in the order of the calls. `holder`: absent, one for all bodies without one.
 */
export function moveLater(goOn: () => void, holder: Holder = holderOf(undefined)): void {
  waiting.add({ holder, goOn });
  schedule();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(beginTurn);
}

function beginTurn(): void {
  isScheduled = false;
  movedBytes = 0;
  // All are taken first: a body that waits again goes on in a later turn.
  const going = Array.from({ length: Math.min(TURN_BODIES, waiting.length) }, () => waiting.next());
  for (const body of going) body?.goOn();
  if (waiting.length > 0) schedule();
}
