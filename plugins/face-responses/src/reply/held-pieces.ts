/** Pieces of a reply that wait for the end of a call. */

type Apply = () => void;

/** A piece. It stands in two queues: `isTaken` says that the other one gave it. */
interface Held {
  readonly apply: Apply;
  isTaken: boolean;
}

/** Pieces in the order of their arrival: all of them, and those of each target. */
export class HeldPieces {
  #size = 0;
  #all = new Queue();
  readonly #ofTarget = new Map<number | undefined, Queue>();

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  add(target: number | undefined, apply: Apply): void {
    let queue = this.#ofTarget.get(target);
    if (queue === undefined) this.#ofTarget.set(target, (queue = new Queue()));
    const held = { apply, isTaken: false };
    queue.add(held);
    this.#all.add(held);
    this.#size++;
  }

  /** The first piece; `undefined` when none is left. */
  take(): Apply | undefined {
    return this.#taken(this.#all.take());
  }

  /** The first piece of a target; `undefined` when none is left. */
  takeOf(target: number): Apply | undefined {
    return this.#taken(this.#ofTarget.get(target)?.take());
  }

  #taken(held: Held | undefined): Apply | undefined {
    if (held === undefined) return undefined;
    if (--this.#size === 0) {
      this.#all = new Queue();
      this.#ofTarget.clear();
    }
    return held.apply;
  }
}

/** A queue whose pieces may be taken elsewhere. */
class Queue {
  readonly #list: Held[] = [];
  #at = 0;

  add(held: Held): void {
    this.#list.push(held);
  }

  take(): Held | undefined {
    while (this.#at < this.#list.length) {
      const held = this.#list[this.#at++];
      if (held === undefined || held.isTaken) continue;
      held.isTaken = true;
      return held;
    }
    return undefined;
  }
}
