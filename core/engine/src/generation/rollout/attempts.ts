/** The attempts of a process to apply configurations: their results, counts and log lines. */

import type { Clock, Log } from "@sluice/contract";
import type { Finding } from "../../config/finding.ts";
import type { Generation } from "../generation.ts";
import { type ApplyResult, logResult, type Waiting } from "./apply.ts";
import { type ApplyOutcome, noOutcomes } from "./outcome.ts";
import type { CanaryEnded, Settled } from "./state/model.ts";

/** Counts and logs results. */
export class Attempts {
  /** How often attempts ended in each way. */
  readonly outcomes = noOutcomes();
  #last: ApplyResult | undefined;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The last result that was reported. */
  get last(): ApplyResult | undefined {
    return this.#last;
  }

  /** Reports contents that have findings before they become a snapshot. `live` serves all keys. */
  refuse(
    findings: readonly Finding[],
    live: Generation | undefined,
    contents: string | undefined,
  ): ApplyResult {
    return this.report(this.#result("refused", { digest: undefined, contents }, findings), live);
  }

  /** The result of an edit. */
  settle(
    { edit, outcome, generation, reason, findings, isReported }: Settled<Waiting>,
    live: Generation | undefined,
  ): ApplyResult {
    const { author } = edit.options;
    const result = {
      ...this.#result(outcome, edit.snapshot, findings),
      generation,
      ...(reason !== undefined && { reason }),
      ...(isReported && author !== undefined && { author }),
    };
    return isReported ? this.report(result, live) : result;
  }

  /** The result of a canary, not reported yet. */
  canaryResult({ end, generation, reason }: CanaryEnded<Generation, Waiting>): ApplyResult {
    return {
      ...this.#result(end, generation.snapshot, []),
      generation: generation.number,
      reason,
    };
  }

  #result(
    outcome: ApplyOutcome,
    { digest, contents }: Pick<ApplyResult, "digest" | "contents">,
    findings: readonly Finding[],
  ): ApplyResult {
    return { outcome, atMs: this.#clock.now(), digest, contents, generation: undefined, findings };
  }

  /** Counts and logs a result. `live` serves all keys. */
  report(result: ApplyResult, live: Generation | undefined): ApplyResult {
    this.#last = result;
    this.outcomes[result.outcome]++;
    logResult(this.#log, result, live?.number);
    return result;
  }
}
