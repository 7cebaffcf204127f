/** Sliding windows: so much in any span of a length, kept in sixtieths of it. */

/** A span is kept in so many parts, and one more for the part that is only half out of it. */
const PARTS = 61;

/** The amount that was taken in a sliding time. Times are milliseconds of one monotonic clock. */
export interface SlidingWindow {
  readonly windowMs: number;
  readonly partMs: number;
  /** By `index % PARTS`. */
  readonly amounts: number[];
  /**
   * The part of the present: `index * partMs` is the moment at which what is taken in it is free
   * again.
   */
  newest: number;
  used: number;
}

/** An empty window. */
export function createWindow(windowMs: number): SlidingWindow {
  return {
    windowMs,
    partMs: windowMs / (PARTS - 1),
    amounts: Array.from({ length: PARTS }, () => 0),
    newest: 0,
    used: 0,
  };
}

/** Forgets what has left the window. */
export function advance(window: SlidingWindow, nowMs: number): void {
  const present = Math.floor(nowMs / window.partMs) + PARTS;
  const { amounts } = window;
  if (present <= window.newest) return;
  if (present - window.newest >= PARTS) {
    if (window.used !== 0) amounts.fill(0);
    window.used = 0;
  } else {
    for (let index = window.newest + 1; index <= present; index += 1) {
      window.used -= amounts[index % PARTS]!;
      amounts[index % PARTS] = 0;
    }
  }
  window.newest = present;
}

/** Whether a window was left alone for its whole length: nothing of it counts any more. */
export function isPast({ newest, partMs }: SlidingWindow, nowMs: number): boolean {
  return Math.floor(nowMs / partMs) + PARTS - newest >= PARTS;
}

/** Adds to the present part, of a window that has been advanced. */
export function addNow(window: SlidingWindow, amount: number): void {
  window.amounts[window.newest % PARTS]! += amount;
  window.used += amount;
}

/** Gives back what was taken too much in a part, as far as it still counts. */
export function giveBack(window: SlidingWindow, index: number, amount: number): void {
  if (window.newest - index >= PARTS) return;
  const given = Math.min(amount, window.amounts[index % PARTS]!);
  window.amounts[index % PARTS]! -= given;
  window.used -= given;
}

/** How long until `amount` more fits, in whole milliseconds, when nothing else is taken. */
export function waitMs(
  window: SlidingWindow,
  nowMs: number,
  amount: number,
  limit: number,
): number {
  let surplus = window.used + amount - limit;
  if (surplus <= 0) return 0;
  for (let index = window.newest - PARTS + 1; index <= window.newest; index += 1) {
    if (index < 0) continue;
    surplus -= window.amounts[index % PARTS]!;
    if (surplus <= 0) return Math.max(1, Math.ceil(index * window.partMs - nowMs));
  }
  return window.windowMs;
}

/** How long until nothing of it counts any more, in whole milliseconds. */
export function emptyMs(window: SlidingWindow, nowMs: number): number {
  if (window.used === 0) return 0;
  let index = window.newest;
  while (index > window.newest - PARTS && window.amounts[index % PARTS] === 0) index -= 1;
  return Math.ceil(index * window.partMs - nowMs);
}
