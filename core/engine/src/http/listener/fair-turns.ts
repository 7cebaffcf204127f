/**
 * The begin of requests, spread over turns of the event loop. A burst of one key's requests is read
 * in one turn; begun in the same turn, it would hold up every request behind it.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type Holder, type Waiter, WaitQueue } from "@sluice/kit/internals";

/** Requests that begin in one turn, and the time after which no further one does. */
const MAX_BEGUN = 16;
const MAX_TURN_MS = 2;

/** A request that waits for a turn. */
interface WaitingRequest extends Waiter {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * A handler that begins 16 requests in a turn of the event loop at most, and none after two
 * milliseconds of it. Those beyond wait for the next turns, in round-robin order over what
 * `claimOf` says of each: the key that it presents. It is asked for those alone. A request whose
 * client leaves meanwhile never begins.
 */
export function withFairTurns(
  handler: RequestListener,
  claimOf: (request: IncomingMessage) => string,
): RequestListener {
  const queue = new WaitQueue<WaitingRequest>();
  let begun = 0;
  let untilMs = 0;

  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    if (begun === 0) {
      setImmediate(endTurn);
      untilMs = performance.now() + MAX_TURN_MS;
    }
    begun += 1;
    void handler(request, response);
  };
  const mayBegin = (): boolean => begun === 0 || (begun < MAX_BEGUN && performance.now() < untilMs);
  const endTurn = (): void => {
    begun = 0;
    while (mayBegin()) {
      const next = queue.next();
      if (next === undefined) return;
      if (!next.response.destroyed) begin(next.request, next.response);
    }
  };
  return (request, response) => {
    if (queue.length === 0 && mayBegin()) begin(request, response);
    else queue.add({ holder: holderOf(claimOf(request)), request, response });
  };
}

function holderOf(claim: string): Holder {
  return { key: claim, team: undefined };
}
