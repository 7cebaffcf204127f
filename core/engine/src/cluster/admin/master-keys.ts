/** Master keys of a supervising process: the file of the key may get another one while it runs. */

import { parseJson } from "@sluice/kit";
import { lookAt, type WorkerAddress } from "./ask-workers.ts";

/** Knows the present key, and those that workers may still have. */
export class MasterKeys {
  /** The newest last. A worker has the key of its own start. */
  readonly #known: string[];
  readonly #read: () => string;

  /** `read` gives the key as it is now; while it throws, the last one counts. */
  constructor(first: string, read: () => string) {
    this.#known = [first];
    this.#read = read;
  }

  /** The key as it is now. */
  readonly present = (): string => {
    const last = this.#known.at(-1) ?? "";
    let now = last;
    try {
      now = this.#read();
    } catch {
      return last;
    }
    if (now !== last) this.#known.push(now);
    return now;
  };

  /**
   * The workers' answer to the first accepted key, tried from the newest. Throws when no worker
   * answers.
   */
  async lookAt(workers: readonly WorkerAddress[], path: string): Promise<unknown> {
    this.present();
    const [newest = "", ...older] = this.#known.toReversed();
    let answer = await lookAt(workers, path, newest);
    for (const key of older) {
      if (answer.status !== 401) break;
      answer = await lookAt(workers, path, key);
    }
    if (answer.status !== 200)
      throw new Error(`The workers refuse the master key (status ${answer.status}).`);
    return parseJson(answer.text) as unknown;
  }
}
