/**
 * The begin of requests, spread over turns of the event loop. A burst of one key's requests is read
 * in one turn; begun in the same turn, it would hold up every request behind it.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type Holder, type Waiter, WaitQueue } from "@sluice/kit/internals";

/** Requests that begin in one turn: about two milliseconds of work. */
const MAX_BEGUN = 16;

/** A request that waits for a turn. */
interface WaitingRequest extends Waiter {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * A handler that begins 16 requests in a turn of the event loop at most. Those beyond wait for the
 * next turns, in round-robin order over what `claimOf` says of each: the key that it presents. It
 * is asked for those alone. A request whose client leaves meanwhile never begins.
 */
export function withFairTurns(
  handler: RequestListener,
  claimOf: (request: IncomingMessage) => string,
): RequestListener {
  const queue = new WaitQueue<WaitingRequest>();
  let begun = 0;

  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    if (begun === 0) setImmediate(endTurn);
    begun += 1;
    void handler(request, response);
  };
  const nextOf = (count: number): WaitingRequest | undefined =>
    count < MAX_BEGUN ? queue.next(isAnyone) : undefined;
  const endTurn = (): void => {
    begun = 0;
    for (let next = queue.next(isAnyone); next !== undefined; next = nextOf(begun)) {
      if (!next.response.destroyed) begin(next.request, next.response);
    }
  };
  return (request, response) => {
    if (begun < MAX_BEGUN && queue.length === 0) begin(request, response);
    else queue.add({ holder: holderOf(claimOf(request)), request, response });
  };
}

function isAnyone(): boolean {
  return true;
}

function holderOf(claim: string): Holder {
  return { key: claim, team: undefined };
}
