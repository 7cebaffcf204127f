/** Runs the tests of texts that are not applied. */

import { GatewayError } from "@sluice/contract";
import type { Finding } from "../../../../config/finding.ts";
import type { Snapshot } from "../../../../config/snapshot.ts";

/** The result of one test. */
export interface RunTest {
  readonly pipeline: string;
  readonly file: string;
  readonly name: string;
  readonly findings: readonly Finding[];
  readonly ms: number;
}

/** Runs all tests of a snapshot. Never rejects. */
export type RunTests = (
  snapshot: Snapshot,
  signal: AbortSignal,
) => Promise<{ readonly results: readonly RunTest[]; readonly findings: readonly Finding[] }>;

/** The supervisor of workers waits 30 s for an edit. */
const DEADLINE_MS = 20_000;

/** Tests of one text after the other: each run makes a whole generation. */
export class CandidateTests {
  readonly #run: RunTests;
  #isRunning = false;

  constructor(run: RunTests) {
    this.#run = run;
  }

  /** Runs the tests. Throws `overloaded` while others run, and when they take too long. */
  async run(snapshot: Snapshot): ReturnType<RunTests> {
    if (this.#isRunning)
      throw new GatewayError("overloaded", "Other tests run at the moment. Retry in a second.", {
        retryAfterMs: 1_000,
      });
    this.#isRunning = true;
    const late = AbortSignal.timeout(DEADLINE_MS);
    try {
      const tested = await this.#run(snapshot, late);
      if (!late.aborted) return tested;
      throw new GatewayError(
        "overloaded",
        `The tests took longer than ${DEADLINE_MS / 1_000} s, so nothing was applied. Save the files on the machine, or make the tests faster.`,
      );
    } finally {
      this.#isRunning = false;
    }
  }
}
