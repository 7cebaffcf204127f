/** The time of an exchange: its start, its deadline and its end. */

import { type Clock, GatewayError, type Lifetime } from "@sluice/contract";

/** Ends an exchange early. */
export type Abort = (reason: GatewayError) => void;

/** The clock of one exchange. `end` stops it. */
export class ExchangeLifetime implements Lifetime {
  readonly startedAtMs: number;
  /** The start on the monotonic clock. */
  readonly startedMs: number;
  deadlineMs: number;
  readonly #clock: Clock;
  readonly #abort: Abort;
  #timer: NodeJS.Timeout;
  #settled: (() => void)[] = [];
  #isOver = false;

  /** Starts the clock. `limitMs`: the route's deadline. */
  constructor(clock: Clock, limitMs: number, abort: Abort) {
    this.#clock = clock;
    this.#abort = abort;
    this.startedAtMs = clock.now();
    this.startedMs = clock.monotonic();
    this.deadlineMs = this.startedMs + limitMs;
    this.#timer = this.#timeOut(limitMs, "the route's deadline");
  }

  /** Callbacks registered after the end, from an abandoned branch, run immediately. */
  onSettle(settled: () => void): void {
    if (this.#isOver) settled();
    else this.#settled.push(settled);
  }

  /**
   * Moves the deadline to so many milliseconds after the start, never to a later time than it had.
   */
  shorten(timeoutMs: number): void {
    const deadlineMs = this.startedMs + timeoutMs;
    if (deadlineMs >= this.deadlineMs) return;
    this.deadlineMs = deadlineMs;
    clearTimeout(this.#timer);
    this.#timer = this.#timeOut(
      timeoutMs,
      "its own timeout",
      Math.max(0, deadlineMs - this.#clock.monotonic()),
    );
  }

  /** Ends the exchange: clears its deadline and runs the callbacks for its end, once. */
  end(): void {
    clearTimeout(this.#timer);
    this.#isOver = true;
    const settled = this.#settled;
    this.#settled = [];
    for (const callback of settled) callback();
  }

  #timeOut(limitMs: number, name: string, leftMs = limitMs): NodeJS.Timeout {
    return setTimeout(() => {
      this.#abort(
        new GatewayError(
          "deadline_exceeded",
          `The request took longer than ${name} of ${limitMs} ms.`,
        ),
      );
    }, leftMs);
  }
}
