/** Sliding windows: so much in any span of a length, kept in sixtieths of it. */

/** A span is kept in so many parts, and one more for the part that is only half out of it. */
const PARTS = 61;

/**
 * The amount that was taken in a sliding time. Times are milliseconds of one monotonic clock. There
 * is a window for each customer: it has a place only for parts in which something was taken.
 */
export interface SlidingWindow {
  readonly windowMs: number;
  readonly partMs: number;
  /** The index of a part and what was taken in it, in turn; the oldest part first. */
  parts: number[];
  /**
   * The part of the present: `index * partMs` is the moment at which what is taken in it is free
   * again.
   */
  newest: number;
  used: number;
}

/** An empty window. */
export function createWindow(windowMs: number): SlidingWindow {
  return { windowMs, partMs: windowMs / (PARTS - 1), parts: [], newest: 0, used: 0 };
}

/** Forgets what has left the window. */
export function advance(window: SlidingWindow, nowMs: number): void {
  const present = Math.floor(nowMs / window.partMs) + PARTS;
  if (present <= window.newest) return;
  window.newest = present;
  const { parts } = window;
  const first = present - PARTS + 1;
  let gone = 0;
  for (; gone < parts.length && parts[gone]! < first; gone += 2) window.used -= parts[gone + 1]!;
  if (gone === 0) return;
  parts.copyWithin(0, gone);
  parts.length -= gone;
  // Sums of fractions leave a rest.
  if (parts.length === 0) window.used = 0;
}

/** Whether a window was left alone for its whole length: nothing of it counts any more. */
export function isPast({ newest, partMs }: SlidingWindow, nowMs: number): boolean {
  return Math.floor(nowMs / partMs) + PARTS - newest >= PARTS;
}

/** Adds to the present part, of a window that has been advanced. */
export function addNow(window: SlidingWindow, amount: number): void {
  const { parts, newest } = window;
  const last = parts.length - 2;
  // A literal has no room for more, which most windows never need.
  if (last < 0) window.parts = [newest, amount];
  else if (parts[last] === newest) parts[last + 1]! += amount;
  else parts.push(newest, amount);
  window.used += amount;
}

/** Gives back what was taken too much in a part, as far as it still counts. */
export function giveBack(window: SlidingWindow, index: number, amount: number): void {
  const { parts } = window;
  let at = parts.length - 2;
  while (at >= 0 && parts[at]! > index) at -= 2;
  if (at < 0 || parts[at] !== index || window.newest - index >= PARTS) return;
  const given = Math.min(amount, parts[at + 1]!);
  parts[at + 1]! -= given;
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
  for (let at = 0; at < window.parts.length; at += 2) {
    surplus -= window.parts[at + 1]!;
    if (surplus <= 0) return Math.max(1, Math.ceil(window.parts[at]! * window.partMs - nowMs));
  }
  return window.windowMs;
}

/** How long until nothing of it counts any more, in whole milliseconds. */
export function emptyMs(window: SlidingWindow, nowMs: number): number {
  if (window.used === 0) return 0;
  const { parts, partMs } = window;
  let at = parts.length - 2;
  while (at >= 0 && parts[at + 1] === 0) at -= 2;
  return at < 0 ? 0 : Math.ceil(parts[at]! * partMs - nowMs);
}
