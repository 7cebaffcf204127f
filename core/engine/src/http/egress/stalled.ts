/** Cuts clients that do not read their replies. */

import type { ServerResponse } from "node:http";
import { type Clock, GatewayError } from "@sluice/contract";
import { Listed, OpenList } from "@sluice/kit/internals";
import type { LiveExchange } from "../../pipeline/exchange.ts";

/** The exchange that a response belongs to. */
type Abortable = Pick<LiveExchange, "abort">;

/** Minimum rate of a client with unsent data. A slower one counts as stalled. */
const MIN_BYTES_PER_SECOND = 1_024;
/** Checks within the time limit: a client is cut at most an eighth later. */
const LOOKS = 8;

/** A watched response. */
export class Watched extends Listed {
  readonly exchange: Abortable;
  readonly response: ServerResponse;
  readonly round: Round;
  sinceMs: number;
  takenThen = 0;

  constructor(exchange: Abortable, response: ServerResponse, round: Round, sinceMs: number) {
    super();
    this.exchange = exchange;
    this.response = response;
    this.round = round;
    this.sinceMs = sinceMs;
  }
}

/** The responses with one time limit, and the timer that checks them. */
interface Round {
  readonly timeoutMs: number;
  readonly leastBytes: number;
  readonly watched: OpenList<Watched>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Cuts the connection of a client that took less than 1 KiB a second for its time limit while a
 * part of its reply waited; the exchange is aborted with `client_stalled`. A socket's own timer
 * restarts with every partial write, so it is not used. The system's buffers, some megabytes for a
 * near client, fill first; their content counts as read. One timer checks all responses: most of
 * them end before its first check.
 */
export class StalledClients {
  readonly #clock: Clock;
  readonly #rounds = new Map<number, Round>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Watches a response until `end`, which is due when it is closed. */
  watch(exchange: Abortable, response: ServerResponse, timeoutMs: number): Watched {
    const round = this.#rounds.get(timeoutMs) ?? this.#open(timeoutMs);
    round.timer ??= setInterval(() => this.#look(round), timeoutMs / LOOKS).unref();
    const watched = new Watched(exchange, response, round, this.#clock.monotonic());
    round.watched.add(watched);
    return watched;
  }

  end(watched: Watched): void {
    watched.round.watched.delete(watched);
  }

  #open(timeoutMs: number): Round {
    const leastBytes = Math.ceil((MIN_BYTES_PER_SECOND * timeoutMs) / 1_000);
    const round: Round = { timeoutMs, leastBytes, watched: new OpenList(), timer: undefined };
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
  // Nothing is unsent, or another reply of the connection goes first. Upstream, body and that reply
  // have limits of their own.
  const isWaiting = taken !== undefined && response.writableLength > 0;
  if (!isWaiting || taken - watched.takenThen >= round.leastBytes) {
    watched.sinceMs = nowMs;
    watched.takenThen = taken ?? 0;
  } else if (nowMs - watched.sinceMs >= round.timeoutMs) {
    exchange.abort(
      new GatewayError(
        "client_stalled",
        `The client took too little of the reply for ${round.timeoutMs} ms.`,
      ),
    );
    response.destroy();
  }
}

/**
 * Bytes of the connection that the system has accepted; `undefined` while another reply goes first.
 */
function takenBytes({ socket }: ServerResponse): number | undefined {
  return socket === null ? undefined : socket.bytesWritten - socket.writableLength;
}
