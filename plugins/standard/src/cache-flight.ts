/** Flights: an upstream call under way, and those who wait for it beside the one whose exchange made it. */

import { TransientMap } from "@sluice/kit/state";
import type { Attempt, Clock, Exchange, SharedValue, WholeReply } from "@sluice/spec";
import { GatewayError, isGatewayError } from "@sluice/spec";
import type { Tape } from "./cache-tape.ts";

/** What a call came to. */
export type Landing =
  | { readonly kind: "whole"; readonly reply: WholeReply; readonly attempt: Attempt }
  | { readonly kind: "stream"; readonly tape: Tape; readonly attempt: Attempt };

/**
 * Failures that are the leader's own: its time, its key's limits, the end of its generation. Who waits beside it tries for itself;
 * everything else is the upstream's word to all of them.
 */
const OWN_FAILURES = new Set([
  "client_closed",
  "deadline_exceeded",
  "overloaded",
  "rate_limited",
  "budget_exceeded",
  "permission_denied",
]);

/** Whether a failure says nothing about anybody else's request. */
export function isOwnFailure(error: unknown): boolean {
  return !isGatewayError(error) || OWN_FAILURES.has(error.code);
}

/** One call under way. It ends when nobody waits for it any more, and when its leader's time is up. */
export class Flight {
  /** Ends the call: the leader's branch ends with it. */
  readonly controller = new AbortController();
  /** Made for the first who waits beside the leader. */
  #awaited: PromiseWithResolvers<Landing> | undefined;
  #waiting = 1;
  #timer: NodeJS.Timeout | undefined;
  #landed: Landing | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** What the call comes to. Rejects with what it failed with. */
  get landing(): Promise<Landing> {
    if (this.#awaited === undefined) {
      this.#awaited = Promise.withResolvers<Landing>();
      // Whoever waited may have left.
      this.#awaited.promise.catch(() => undefined);
      if (this.#landed !== undefined) this.#awaited.resolve(this.#landed);
      else if (this.#failure !== undefined) this.#awaited.reject(this.#failure.error);
    }
    return this.#awaited.promise;
  }

  /** Whether one more may wait for it. */
  get isOpen(): boolean {
    return !this.controller.signal.aborted && (this.#landed?.kind !== "stream" || this.#landed.tape.isOpen);
  }

  /** Ties the call to its leader. A client that leaves is one waiter less; everything else that ends the leader ends the call. */
  follow(leader: Exchange, clock: Clock): void {
    const onAbort = (): void => {
      const reason: unknown = leader.signal.reason;
      if (!isGatewayError(reason) || reason.code !== "client_closed") {
        this.abort(reason);
        return;
      }
      this.leave(reason);
      if (this.controller.signal.aborted) return;
      // The leader's own timer has stopped with it.
      const limit = new GatewayError("deadline_exceeded", "The request took longer than the deadline of the one it waited with.");
      this.#timer = setTimeout(() => this.abort(limit), Math.max(0, leader.deadlineMs - clock.monotonic()));
    };
    if (leader.signal.aborted) onAbort();
    else leader.signal.addEventListener("abort", onAbort, { once: true });
    leader.onSettle(() => {
      leader.signal.removeEventListener("abort", onAbort);
      clearTimeout(this.#timer);
    });
  }

  join(): void {
    this.#waiting += 1;
  }

  /** One waiter less. Before the landing the last one ends the call; afterwards a tape knows its readers. */
  leave(reason: unknown): void {
    this.#waiting -= 1;
    if (this.#waiting === 0 && this.#landed === undefined) this.abort(reason);
  }

  land(landing: Landing): void {
    this.#landed = landing;
    this.#awaited?.resolve(landing);
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

/** The flights of this process, by what was asked. Generations share them. */
export class Flights implements SharedValue {
  readonly #flights = new TransientMap<Flight>();

  /** A flight that one more may join. */
  find(key: string): Flight | undefined {
    const flight = this.#flights.get(key);
    return flight?.isOpen === true ? flight : undefined;
  }

  /** A new flight. One that is not shared is nobody's to find. */
  open(key: string, isShared: boolean): Flight {
    const flight = new Flight();
    if (isShared) this.#flights.set(key, flight);
    return flight;
  }

  close(): void {
    this.#flights.clear();
  }

  /** Nobody joins it any more. */
  remove(key: string, flight: Flight): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
