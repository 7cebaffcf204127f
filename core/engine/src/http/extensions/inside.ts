/**
 * Requests that an extension makes of the gateway for its caller. They reach the gateway's own
 * routes alone: an extension that calls a path which it serves itself would call itself.
 */

import type { IncomingMessage, RequestListener } from "node:http";
import type { ListenerName } from "@sluice/contract";

const INSIDE = new WeakSet<IncomingMessage>();

/** Whether a request comes from an extension. */
export function isInside(message: IncomingMessage): boolean {
  return INSIDE.has(message);
}

/** The listeners of the process; a name is missing until its app is made. */
export type OwnListeners = { -readonly [Name in ListenerName]?: RequestListener };

/** A listener for requests of extensions. */
export function insideOf(listener: RequestListener): RequestListener {
  return (request, response) => {
    INSIDE.add(request);
    return listener(request, response);
  };
}
