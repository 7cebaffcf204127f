/** A part of `proof:bodies` that runs beside it as a process of its own, and obeys orders. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** A started part. It answers one order after the other. */
export class Part<Order extends object, Said> {
  readonly #child: ChildProcess;

  /** `file`: a module beside this one that calls `obey`. */
  constructor(file: string) {
    this.#child = fork(new URL(file, import.meta.url));
  }

  /** Gives an order, and resolves with the answer. Rejects where the part ends before. */
  async ask(order: Order): Promise<Said> {
    const ending = new AbortController();
    const { signal } = ending;
    const ended = once(this.#child, "exit", { signal }).then(([code]) => {
      throw new Error(`A part of the proof ended: ${String(code)}.`);
    });
    const answered = once(this.#child, "message", { signal }).then(([said]) => said as Said);
    this.#child.send(order);
    try {
      return await Promise.race([answered, ended]);
    } finally {
      ended.catch(() => undefined);
      answered.catch(() => undefined);
      ending.abort();
    }
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}

/** Answers the orders of the proof. Called once, in a part's own process. */
export function obey<Order extends object, Said>(answer: (order: Order) => Promise<Said>): void {
  process.on("message", (order: Order) => {
    void answer(order).then((said) => process.send?.(said));
  });
}
