/** The circuit breaker of a guardrail: after several failures in a row it is left alone for a while. */

import type { SharedValue } from "@sluice/spec";

/** Failures in a row after which a guardrail is left alone. */
const FAILURES_TO_OPEN = 5;
/** How long it is left alone before one judgement tries again. */
export const OPEN_MS = 10_000;

/** What is remembered of a guardrail's failures. It may be shared by everybody who asks the same guardrail. */
export class GuardBreaker implements SharedValue {
  #failures = 0;
  #openUntilMs = 0;

  /** Whether the guardrail is left alone. */
  isOpen(nowMs: number): boolean {
    return nowMs < this.#openUntilMs;
  }

  succeed(): void {
    this.#failures = 0;
  }

  /** Counts a failure. Returns whether the guardrail is left alone from now on. */
  fail(nowMs: number): boolean {
    this.#failures++;
    if (this.#failures < FAILURES_TO_OPEN) return false;
    this.#openUntilMs = nowMs + OPEN_MS;
    this.#failures = FAILURES_TO_OPEN - 1;
    return true;
  }

  close(): void {
    this.#failures = 0;
  }
}
