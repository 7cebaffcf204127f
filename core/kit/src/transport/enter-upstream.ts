/** The way to an upstream: a connection for the key, then the gates of the exchange. */

import type { Attempt, Exchange, JsonDocument, ProviderInstance, Soon, Target } from "@sluice/spec";
import { admit } from "../admit.ts";
import { holderOf } from "../state/parts.ts";
import type { ConnectionPlace } from "./connection-places.ts";
import type { Upstream } from "./upstream.ts";

/** A provider and the connections to it. */
export interface UpstreamDoor {
  readonly instance: ProviderInstance;
  readonly upstream: Upstream;
  /** Called with the milliseconds of every wait for a connection, also of one that was in vain. */
  readonly onWait?: (ms: number) => void;
}

/**
 * Takes a connection for the exchange's key and asks the gates. A step that dispatches over the network asks before
 * `beginAttempt`, for each attempt, and hands the place on; then the wait is no part of the attempt. Rejects with `overloaded`
 * when no connection is free for the key, and with what a gate says.
 */
export function enterUpstream(
  exchange: Exchange,
  { instance, upstream, onWait }: UpstreamDoor,
  target: Target,
  document: JsonDocument,
): Soon<ConnectionPlace> {
  const entered = upstream.places.enter(holderOf(exchange.identity), instance.name, exchange.signal, instance.timeouts.queueMs);
  if (!(entered instanceof Promise)) return admitted(entered, exchange, target, document);
  exchange.note("provider", "waits for a connection to", instance.name);
  const sinceMs = performance.now();
  return entered
    .finally(() => onWait?.(performance.now() - sinceMs))
    .then((place) => admitted(place, exchange, target, document));
}

/** `beginAttempt` for a call that holds a connection, which is given back when the call must not be made. */
export function beginAttemptAt(
  place: ConnectionPlace | undefined,
  exchange: Exchange,
  target: Target,
  provider: string,
  document?: JsonDocument,
): Attempt {
  try {
    return exchange.beginAttempt(target, provider, document);
  } catch (error) {
    place?.release();
    throw error;
  }
}

function admitted(place: ConnectionPlace, exchange: Exchange, target: Target, document: JsonDocument): Soon<ConnectionPlace> {
  const fail = (error: unknown): never => {
    place.release();
    throw error;
  };
  try {
    return admit(exchange, target, document)?.then(() => place, fail) ?? place;
  } catch (error) {
    return fail(error);
  }
}
