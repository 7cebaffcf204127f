/** Clients that do not read: what waits for them does not wait for ever. */

import type { ServerResponse } from "node:http";
import { type Clock, GatewayError } from "@sluice/contract";
import type { LiveExchange } from "../../pipeline/exchange.ts";

/** A client that takes less than this while a part of its reply waits counts as one that takes nothing. */
const MIN_BYTES_PER_SECOND = 1_024;
/** Looks within the time limit: a client is cut at most an eighth later than it says. */
const LOOKS = 8;

/** A response that is watched. */
export interface Watched {
  readonly exchange: LiveExchange;
  readonly response: ServerResponse;
  readonly round: Round;
  sinceMs: number;
  takenThen: number;
}

/** The responses that have one time limit, and the timer that looks at all of them. */
interface Round {
  readonly timeoutMs: number;
  readonly leastBytes: number;
  readonly watched: Set<Watched>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Cuts the connection of a client that took less than 1 KiB a second for its time limit while a part of its reply waited; the
 * exchange is aborted with `client_stalled`. The timer is ours: a socket's own starts anew with a write that the system took
 * in part. The system's own buffers come first, some megabytes with a client near by: what lies there is not seen from here.
 * One timer looks at all responses: most of them end before it looks once.
 */
export class StalledClients {
  readonly #clock: Clock;
  readonly #rounds = new Map<number, Round>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Watches a response until `end`, which is due when it is closed. */
  watch(exchange: LiveExchange, response: ServerResponse, timeoutMs: number): Watched {
    const round = this.#rounds.get(timeoutMs) ?? this.#open(timeoutMs);
    round.timer ??= setInterval(() => this.#look(round), timeoutMs / LOOKS).unref();
    const watched = { exchange, response, round, sinceMs: this.#clock.monotonic(), takenThen: 0 };
    round.watched.add(watched);
    return watched;
  }

  end(watched: Watched): void {
    watched.round.watched.delete(watched);
  }

  #open(timeoutMs: number): Round {
    const leastBytes = Math.ceil((MIN_BYTES_PER_SECOND * timeoutMs) / 1_000);
    const round: Round = { timeoutMs, leastBytes, watched: new Set(), timer: undefined };
    this.#rounds.set(timeoutMs, round);
    return round;
  }

  #look(round: Round): void {
    if (round.watched.size === 0) {
      clearInterval(round.timer);
      this.#rounds.delete(round.timeoutMs);
      return;
    }
    const nowMs = this.#clock.monotonic();
    for (const watched of round.watched) look(watched, nowMs);
  }
}

function look(watched: Watched, nowMs: number): void {
  const { exchange, response, round } = watched;
  if (response.destroyed) return;
  const taken = takenBytes(response);
  // Nothing waits, or another reply of the connection comes first: the upstream, the body and that reply have clocks of their own.
  const isWaiting = taken !== undefined && response.writableLength > 0;
  if (!isWaiting || taken - watched.takenThen >= round.leastBytes) {
    watched.sinceMs = nowMs;
    watched.takenThen = taken ?? 0;
  } else if (nowMs - watched.sinceMs >= round.timeoutMs) {
    exchange.abort(new GatewayError("client_stalled", `The client took too little of the reply for ${round.timeoutMs} ms.`));
    response.destroy();
  }
}

/** Bytes that the system has taken of what was written to the connection; `undefined` while the reply is not its turn. */
function takenBytes({ socket }: ServerResponse): number | undefined {
  return socket === null ? undefined : socket.bytesWritten - socket.writableLength;
}
