/** Admission: what every upstream call has to pass before it is dispatched. */

import type { Exchange, JsonDocument, Soon, Target } from "@sluice/spec";

/**
 * Asks the gates of an exchange, one after the other, to let a call through. A step that dispatches asks before `beginAttempt`,
 * for each attempt, and awaits only what is a promise. Throws or rejects with what a gate says.
 */
export function admit(exchange: Exchange, target: Target, document: JsonDocument): Soon<void> {
  const { gates } = exchange;
  for (let index = 0; index < gates.length; index += 1) {
    const answer = gates[index]?.(exchange, target, document);
    if (answer instanceof Promise) return admitLater(exchange, target, document, answer, index + 1);
  }
}

async function admitLater(
  exchange: Exchange,
  target: Target,
  document: JsonDocument,
  first: Promise<void>,
  from: number,
): Promise<void> {
  await first;
  for (const gate of exchange.gates.slice(from)) await gate(exchange, target, document);
  // While a gate waited, the exchange may have ended.
  exchange.signal.throwIfAborted();
}
