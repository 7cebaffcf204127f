/** Messages of the playground, which the public listener recognises. */

import type { IncomingMessage, RequestListener } from "node:http";

const PLAYED = new WeakSet<IncomingMessage>();

/** Whether a request comes from the playground. */
export function isPlayed(message: IncomingMessage): boolean {
  return PLAYED.has(message);
}

/** A listener for requests of the playground. */
export function playedBy(listener: RequestListener): RequestListener {
  return (request, response) => {
    PLAYED.add(request);
    return listener(request, response);
  };
}
