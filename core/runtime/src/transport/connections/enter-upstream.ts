/**
 * The entry to an upstream: a connection for the key, then the gates of the exchange, which every
 * upstream call passes before it is dispatched.
 */

import type {
  Admission,
  AttemptWriter,
  Exchange,
  JsonDocument,
  ProviderInstance,
  MaybePromise,
  Target,
} from "@sluice/contract";
import { beginAttempt } from "../../services.ts";
import { type ConnectionPlace, endingOf, holderOf, type Upstream } from "@sluice/kit/internals";
import { defineSlot } from "@sluice/kit";

/** A provider and the connections to it. */
export interface UpstreamDoor {
  readonly instance: ProviderInstance;
  readonly upstream: Upstream;
  /** Called with the milliseconds of every wait for a connection, also of a failed one. */
  readonly onWait?: (ms: number) => void;
}

/** An admitted upstream call. */
export interface UpstreamEntry {
  /** The connection of the call. Absent: a call without a network. */
  readonly place?: ConnectionPlace | undefined;
  /** The admission of the gates. Absent: the exchange has no gates. */
  readonly admission: Admission | undefined;
}

/** An admitted call over the network. */
export interface NetworkEntry extends UpstreamEntry {
  readonly place: ConnectionPlace;
}

/**
 * Takes a connection for the exchange's key and calls the gates. A step that dispatches over the
 * network calls it before `beginAttempt` for each attempt, and passes the entry on; the wait is
 * then not part of the attempt. Rejects with `overloaded` when no connection is free for the key,
 * and with the error of a gate that refuses.
 */
export function enterUpstream(
  exchange: Exchange,
  { instance, upstream, onWait }: UpstreamDoor,
  target: Target,
  document: JsonDocument,
): MaybePromise<NetworkEntry> {
  const { name, timeouts } = instance;
  const entered = upstream.places.enter(
    holderOf(exchange.identity),
    `The provider ${name}`,
    endingOf(exchange),
    timeouts.queueMs,
  );
  if (!(entered instanceof Promise)) return admitted(entered, exchange, target, document);
  exchange.note("provider", "waits for a connection to", name);
  const sinceMs = performance.now();
  return entered
    .finally(() => onWait?.(performance.now() - sinceMs))
    .then((place) => admitted(place, exchange, target, document));
}

/**
 * Calls the gates for a call without a connection. Rejects or throws with the error of a gate that
 * refuses.
 */
export function enterLocal(
  exchange: Exchange,
  target: Target,
  document: JsonDocument,
): MaybePromise<UpstreamEntry> {
  const admission = admit(exchange, target, document);
  return admission instanceof Promise
    ? admission.then((later) => ({ admission: later }))
    : { admission };
}

/**
 * `beginAttempt` for an admitted call: the attempt carries the admission, and the connection is
 * released when the call must not be made. Waits for the note of the call. Throws or rejects with
 * `overloaded` when it cannot be written.
 */
export function beginAttemptAt(
  { place, admission }: UpstreamEntry,
  exchange: Exchange,
  target: Target,
  provider: string,
  document?: JsonDocument,
): MaybePromise<AttemptWriter> {
  const fail = (error: unknown): never => {
    place?.release();
    throw error;
  };
  try {
    const attempt = beginAttempt(exchange, target, provider, document, admission);
    return attempt.noted?.then(() => withoutNote(attempt), fail) ?? attempt;
  } catch (error) {
    return fail(error);
  }
}

/** A second wait for a settled promise would cost a microtask. */
function withoutNote(attempt: AttemptWriter): AttemptWriter {
  attempt.note(undefined);
  return attempt;
}

function admitted(
  place: ConnectionPlace,
  exchange: Exchange,
  target: Target,
  document: JsonDocument,
): MaybePromise<NetworkEntry> {
  const fail = (error: unknown): never => {
    place.release();
    throw error;
  };
  try {
    const admission = admit(exchange, target, document);
    if (admission instanceof Promise)
      return admission.then((later) => ({ place, admission: later }), fail);
    return { place, admission };
  } catch (error) {
    return fail(error);
  }
}

/**
 * Admits an upstream call or rejects with a GatewayError: before it is dispatched, for every
 * attempt. `document` is the body that will be sent. `admission` is the id of the call; the attempt
 * carries it later. A gate returns no promise where nothing waits. An error that is `retryable`
 * concerns this target alone.
 */
export type Gate = (
  exchange: Exchange,
  target: Target,
  document: JsonDocument,
  admission: Admission,
) => MaybePromise<void>;

/** A step in shadow adds gates to a list of its own. */
const GATES = defineSlot<Gate[]>("gates", { inShadow: (gates) => [...gates] });
const NO_GATES: readonly Gate[] = [];

/**
 * Adds what every upstream call of the exchange must pass from now on, behind the gates before it.
 */
export function addGate(exchange: Exchange, gate: Gate): void {
  const gates = GATES.get(exchange);
  if (gates === undefined) GATES.set(exchange, [gate]);
  else gates.push(gate);
}

/** The gates of an exchange, in the order in which they are asked. */
export function gatesOf(exchange: Exchange): readonly Gate[] {
  return GATES.get(exchange) ?? NO_GATES;
}

/**
 * Calls the gates of an exchange in order, to admit an upstream call. A step that dispatches calls
 * it before `beginAttempt` for each attempt, awaits the result if it is a promise, and passes the
 * admission to `beginAttempt`. Returns `undefined` where the exchange has no gates. Throws or
 * rejects with the error of the gate that refuses.
 */
export function admit(
  exchange: Exchange,
  target: Target,
  document: JsonDocument,
): MaybePromise<Admission | undefined> {
  const gates = gatesOf(exchange);
  if (gates.length === 0) return undefined;
  const admission: Admission = { target };
  for (let index = 0; index < gates.length; index += 1) {
    const answer = gates[index]?.(exchange, target, document, admission);
    if (answer instanceof Promise)
      return admitLater(exchange, document, admission, answer, index + 1);
  }
  return admission;
}

async function admitLater(
  exchange: Exchange,
  document: JsonDocument,
  admission: Admission,
  first: Promise<void>,
  from: number,
): Promise<Admission> {
  await first;
  for (const gate of gatesOf(exchange).slice(from))
    await gate(exchange, admission.target, document, admission);
  // The exchange may have ended while a gate waited.
  exchange.signal.throwIfAborted();
  return admission;
}
