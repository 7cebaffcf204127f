/** Canaries of several workers: each counts what it serves, and one of them may say stop; that it went well they say together. */

import { type CanaryVerdict, endOf } from "../generation/canary.ts";
import type { ToWorker } from "./worker-messages.ts";

/** How long the last worker is waited for. Their clocks began within a second of each other. */
const VOTE_MS = 3_000;

interface Count {
  readonly verdicts: Map<unknown, CanaryVerdict>;
  readonly timer: NodeJS.Timeout;
}

/** Where verdicts arrive. `voters` are the workers that serve; `tellAll` tells them. */
export class CanaryDesk {
  readonly #counts = new Map<string, Count>();
  readonly #voters: () => readonly unknown[];
  readonly #tellAll: (message: ToWorker) => void;

  constructor(voters: () => readonly unknown[], tellAll: (message: ToWorker) => void) {
    this.#voters = voters;
    this.#tellAll = tellAll;
  }

  /** Takes a worker's verdict. A fault that one of them sees is enough; the end of the time is everybody's. */
  take(voter: unknown, verdict: CanaryVerdict): void {
    const { digest, kind } = verdict;
    const count = this.#counts.get(digest) ?? { verdicts: new Map(), timer: setTimeout(() => this.#decide(digest), VOTE_MS) };
    this.#counts.set(digest, count);
    count.verdicts.set(voter, verdict);
    if (kind === "fault" || this.#voters().every((one) => count.verdicts.has(one))) this.#decide(digest);
  }

  #decide(digest: string): void {
    const count = this.#counts.get(digest);
    clearTimeout(count?.timer);
    this.#counts.delete(digest);
    const [first, ...others] = count?.verdicts.values() ?? [];
    if (first === undefined) return;
    const [end, reason] = endOf([first, ...others]);
    this.#tellAll({ type: "end-canary", digest, end, reason });
  }
}
