/** Single-flight: a running upstream call, and the requests that wait for it besides its leader. */

import type { FrameBatch } from "@sluice/kit/internals";
import { isClientGone, isGoneCode, type ReplayBuffer } from "@sluice/runtime";
import { TransientMap } from "@sluice/runtime/state";
import type { Attempt, Clock, Exchange, SharedValue, WholeReply } from "@sluice/contract";
import { GatewayError, isGatewayError } from "@sluice/contract";

/** The result of a call. */
export type FlightResult =
  | { readonly kind: "whole"; readonly reply: WholeReply; readonly attempt: Attempt }
  | {
      readonly kind: "stream";
      readonly buffer: ReplayBuffer<FrameBatch>;
      readonly attempt: Attempt;
    };

/**
 * Failures of the leader only, besides the leaving of its client: its deadline, its key's limits,
 * the end of its generation. A waiting request then makes its own call. Every other failure is the
 * upstream's answer to all of them.
 */
const OWN_FAILURES: ReadonlySet<string> = new Set([
  "deadline_exceeded",
  "overloaded",
  "rate_limited",
  "budget_exceeded",
  "permission_denied",
]);

/** Whether a failure concerns only its own request. */
export function isOwnFailure(error: unknown): boolean {
  return !isGatewayError(error) || isGoneCode(error.code) || OWN_FAILURES.has(error.code);
}

/** One running call. It ends when no request waits for it, and at its leader's deadline. */
export class SingleFlight {
  /** Ends the call: the leader's branch ends with it. */
  readonly controller = new AbortController();
  /** Made for the first request that waits besides the leader. */
  #awaited: PromiseWithResolvers<FlightResult> | undefined;
  #waiting = 1;
  #timer: NodeJS.Timeout | undefined;
  #result: FlightResult | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** The result of the call. Rejects with its failure. */
  get result(): Promise<FlightResult> {
    if (this.#awaited === undefined) {
      this.#awaited = Promise.withResolvers<FlightResult>();
      // All waiting requests may have left.
      this.#awaited.promise.catch(() => undefined);
      if (this.#result !== undefined) this.#awaited.resolve(this.#result);
      else if (this.#failure !== undefined) this.#awaited.reject(this.#failure.error);
    }
    return this.#awaited.promise;
  }

  /** Whether another request may wait for it. */
  get isOpen(): boolean {
    return (
      !this.controller.signal.aborted &&
      (this.#result?.kind !== "stream" || this.#result.buffer.isOpen)
    );
  }

  /**
   * Ties the call to its leader. A client that leaves, or stops reading, is one waiter less. Every
   * other end of the leader ends the call.
   */
  follow(leader: Exchange, clock: Clock): void {
    const onAbort = (): void => {
      const reason: unknown = leader.signal.reason;
      if (!isClientGone(leader)) {
        this.abort(reason);
        return;
      }
      this.leave(reason);
      if (this.controller.signal.aborted) return;
      // The leader's own timer has stopped with it.
      const limit = new GatewayError(
        "deadline_exceeded",
        "The request took longer than the deadline of the one it waited with.",
      );
      this.#timer = setTimeout(
        () => this.abort(limit),
        Math.max(0, leader.lifetime.deadlineMs - clock.monotonic()),
      );
    };
    if (leader.signal.aborted) onAbort();
    else leader.signal.addEventListener("abort", onAbort, { once: true });
    leader.lifetime.onSettle(() => {
      leader.signal.removeEventListener("abort", onAbort);
      clearTimeout(this.#timer);
    });
  }

  join(): void {
    this.#waiting += 1;
  }

  /**
   * Removes a waiter. Before the result, the last one ends the call; afterwards the buffer counts
   * its readers.
   */
  leave(reason: unknown): void {
    this.#waiting -= 1;
    if (this.#waiting === 0 && this.#result === undefined) this.abort(reason);
  }

  complete(result: FlightResult): void {
    this.#result = result;
    this.#awaited?.resolve(result);
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#awaited?.reject(error);
  }

  abort(reason: unknown): void {
    clearTimeout(this.#timer);
    this.controller.abort(reason);
  }
}

/** The flights of this process, by their keys. Generations share them. */
export class SingleFlightGroup implements SharedValue {
  readonly #flights = new TransientMap<SingleFlight>();

  /** A flight that another request may join. */
  find(key: string): SingleFlight | undefined {
    const flight = this.#flights.get(key);
    return flight?.isOpen === true ? flight : undefined;
  }

  /** A new flight. One that is not shared cannot be found. */
  open(key: string, isShared: boolean): SingleFlight {
    const flight = new SingleFlight();
    if (isShared) this.#flights.set(key, flight);
    return flight;
  }

  close(): void {
    this.#flights.clear();
  }

  /** Removes a flight, so that no further request joins it. */
  remove(key: string, flight: SingleFlight): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
