/** Work in stages: that of a large request is done in several turns of the event loop. */

/** Work that yields between its stages. */
export type Of<T> = Generator<void, T, undefined>;

/** Runs work without a pause. */
export function atOnce<T>(work: Of<T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/** What a function makes of each item, in one list, in stages. */
export function* flatMap<Item, Made>(
  items: readonly Item[],
  make: (item: Item, index: number) => readonly Made[],
  clock: Clock,
): Of<Made[]> {
  const made: Made[] = [];
  for (const [index, item] of items.entries()) {
    for (const one of make(item, index)) made.push(one);
    if (clock.isOver()) yield;
  }
  return made;
}

/** The approximate length of a stage, in milliseconds. */
const STAGE_MS = 2;
/** Questions between two looks at the clock. */
const QUESTIONS = 16;

/**
 * Says when a stage has taken its time. A loop over many items asks after each one:
 * `if (clock.isOver()) yield;`. The next question begins the next stage.
 */
export class Clock {
  #untilMs: number | undefined;
  #questions = 0;
  readonly #between: number;

  /** `between`: questions between two looks at the clock. One for items that take long. */
  constructor(between = QUESTIONS) {
    this.#between = between;
  }

  isOver(): boolean {
    if (this.#untilMs === undefined) {
      this.#untilMs = performance.now() + STAGE_MS;
      this.#questions = 0;
      return false;
    }
    this.#questions += 1;
    if (this.#questions < this.#between) return false;
    this.#questions = 0;
    if (performance.now() < this.#untilMs) return false;
    this.#untilMs = undefined;
    return true;
  }
}
