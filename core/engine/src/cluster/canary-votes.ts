/**
 * Votes on canaries of several workers: a fault in one worker ends the canary, a promotion needs
 * all of them.
 */

import { type CanaryVerdict, endOf } from "../generation/rollout/canary/canary.ts";
import type { ToWorker } from "./worker-messages.ts";

/**
 * The wait for the last worker's verdict. The clocks of the workers began within a second of each
 * other.
 */
const VOTE_MS = 3_000;

interface Count {
  readonly verdicts: Map<unknown, CanaryVerdict>;
  readonly timer: NodeJS.Timeout;
}

/** Collects verdicts. `voters` are the workers that serve; `sendAll` sends to each of them. */
export class CanaryVotes {
  readonly #counts = new Map<string, Count>();
  readonly #voters: () => readonly unknown[];
  readonly #sendAll: (message: ToWorker) => void;

  constructor(voters: () => readonly unknown[], sendAll: (message: ToWorker) => void) {
    this.#voters = voters;
    this.#sendAll = sendAll;
  }

  /**
   * Takes a worker's verdict. One fault is enough; the end of the time needs the verdicts of all
   * workers.
   */
  take(voter: unknown, verdict: CanaryVerdict): void {
    const { digest, kind } = verdict;
    const count = this.#counts.get(digest) ?? {
      verdicts: new Map(),
      timer: setTimeout(() => this.#decide(digest), VOTE_MS),
    };
    this.#counts.set(digest, count);
    count.verdicts.set(voter, verdict);
    if (kind === "fault" || this.#voters().every((one) => count.verdicts.has(one)))
      this.#decide(digest);
  }

  #decide(digest: string): void {
    const count = this.#counts.get(digest);
    clearTimeout(count?.timer);
    this.#counts.delete(digest);
    const [first, ...others] = count?.verdicts.values() ?? [];
    if (first === undefined) return;
    const [end, reason] = endOf([first, ...others]);
    this.#sendAll({ type: "end-canary", digest, end, reason });
  }
}
