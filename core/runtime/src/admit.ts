/** Admission: the checks that every upstream call passes before it is dispatched. */

import type { Admission, Exchange, JsonDocument, MaybePromise, Target } from "@sluice/contract";
import { defineSlot } from "@sluice/kit";

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
