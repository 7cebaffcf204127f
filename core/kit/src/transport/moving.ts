/** Large bodies share the bytes that one turn of the event loop reads and writes. */

/**
 * Maximum bytes of all large bodies in one turn. One event of the loop reads up to 2 MiB of each
 * socket (libuv: 32 times 64 KiB), and a write goes on while the socket takes it: a turn for fifty
 * bodies would copy 100 MiB.
 */
const TURN_BYTES = 262_144;
/** Bodies that go on in one turn: a read is up to 64 KiB. */
const TURN_BODIES = 4;

const waiting: (() => void)[] = [];
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

/** Lets a paused body go on in a later turn, behind those that wait. */
export function moveLater(goOn: () => void): void {
  waiting.push(goOn);
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
  for (const goOn of waiting.splice(0, TURN_BODIES)) goOn();
  if (waiting.length > 0) schedule();
}
