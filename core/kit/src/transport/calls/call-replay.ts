/**
 * The replay of a call after a stale connection: the upstream closed it while the call was on its
 * way, and has not read the call (RFC 9112 9.3.1).
 */

import { type Deadline, deadlinesOf } from "../../state/deadlines.ts";
import type { Connection, ConnectionHandler } from "../connections/connections.ts";
import { isConnectionLost } from "../errors.ts";

/** Sends a call again, on a new connection. */
export type Resend = (handler: ConnectionHandler) => void;

/**
 * Bounds of the estimated round trip (the time to open the connection). A loss within it means a
 * stale connection.
 */
const MIN_RACE_MS = 100;
const MAX_RACE_MS = 250;
/** The estimate is rounded up to this: the races of all calls have few lengths. */
const RACE_STEP_MS = 50;

/** Decides whether one call may be sent again. It is sent again once at most. */
export class CallReplay {
  /** `undefined` after the replay, and when the call is over. */
  #resend: Resend | undefined;
  readonly #isIdempotent: boolean;
  #isReused = false;
  #hasAnswered = false;
  /** A round trip has passed since the last byte of the request: a loss proves nothing. */
  #isDelivered = false;
  #race: Deadline | undefined;

  constructor(method: string, resend: Resend) {
    this.#resend = resend;
    this.#isIdempotent = method !== "POST" && method !== "PATCH";
  }

  /** Notes that undici begins the call on a connection. */
  started(connection: Connection | undefined): void {
    if (connection !== undefined) this.#isReused = connection.calls++ > 0;
  }

  /** Notes that the request was written in full. */
  sent(connection: Connection | undefined): void {
    if (!this.#isReused || this.#isIdempotent || this.#resend === undefined) return;
    const roundTripMs = Math.ceil((connection?.openedInMs ?? 0) / RACE_STEP_MS) * RACE_STEP_MS;
    const raceMs = Math.min(MAX_RACE_MS, Math.max(MIN_RACE_MS, roundTripMs));
    this.#race = deadlinesOf(raceMs).begin(() => {
      this.#isDelivered = true;
    });
  }

  /** Notes the first byte of a response. */
  answered(): void {
    this.#hasAnswered = true;
    this.#race?.end();
  }

  /**
   * The function to send the call again after an error; `undefined` where the upstream may have
   * processed it. undici also fails calls that it has not begun when their connection is reset:
   * those are not `begun`.
   */
  after(error: Error, connection: Connection | undefined, begun: boolean): Resend | undefined {
    this.#race?.end();
    if (this.#hasAnswered || this.#isDelivered) return undefined;
    if (!this.#isReused && (begun || (connection?.calls ?? 0) === 0)) return undefined;
    if (!isConnectionLost(error)) return undefined;
    const resend = this.#resend;
    this.#resend = undefined;
    return resend;
  }

  end(): void {
    this.#race?.end();
    this.#resend = undefined;
  }
}
