/**
 * Services of the engine for the steps of an exchange: reading the body, opening attempts, counting
 * kept bytes.
 */

import type {
  Admission,
  AttemptWriter,
  Exchange,
  GatewayRequest,
  JsonDocument,
  Target,
} from "@sluice/contract";
import { defineSlot } from "@sluice/kit";
import { type Branch, parentOf } from "@sluice/kit/internals";

/** The engine's side of an exchange. Branches share it. */
export interface ExchangeServices {
  /** Reads and checks the body, once; later calls return the same promise. */
  readBody(): Promise<GatewayRequest | undefined>;
  /**
   * Opens and lists the record of an upstream call. Throws `overloaded` when spend rows cannot be
   * stored.
   */
  openAttempt(
    exchange: Exchange,
    target: Target,
    provider: string,
    document?: JsonDocument,
    admission?: Admission,
  ): AttemptWriter;
  /**
   * Counts bytes that the exchange keeps until its reply is written. Absent: nothing is counted.
   */
  readonly hold?: ((bytes: number) => boolean) | undefined;
}

/** Set by the engine before the first step. */
export const SERVICES = defineSlot<ExchangeServices>("services");

function servicesOf(exchange: Exchange): ExchangeServices {
  const services = SERVICES.get(exchange);
  if (services === undefined)
    throw new Error("The exchange was not made by an engine: it has no services.");
  return services;
}

/**
 * Reads and checks the body, once, and sets `request` of the exchange. Rejects with the
 * GatewayError of a body that is refused.
 */
export async function receiveBody(exchange: Exchange): Promise<void> {
  const { parent, aroundRead } = exchange as Partial<Branch>;
  if (parent === undefined) {
    const request = await servicesOf(exchange).readBody();
    exchange.request ??= request;
    return;
  }
  const read = (): Promise<void> => receiveBody(parent);
  await (aroundRead === undefined ? read() : aroundRead(read));
  exchange.request ??= parent.request;
}

/**
 * Opens the record of an upstream call and lists it in the exchange; a branch's attempts are listed
 * in its parents too. It counts as dispatched once its `noted` has resolved, also if the process is
 * killed: await that before the call. `document`: what it is asked, where that is a part of the
 * request. `admission`: what `admit` returned for the call. Throws `overloaded` when spend rows
 * cannot be stored: call no upstream then.
 */
export function beginAttempt(
  exchange: Exchange,
  target: Target,
  provider: string,
  document?: JsonDocument,
  admission?: Admission,
): AttemptWriter {
  const attempt = servicesOf(exchange).openAttempt(exchange, target, provider, document, admission);
  for (
    let at = exchange, parent = parentOf(at);
    parent !== undefined;
    at = parent, parent = parentOf(at)
  ) {
    (at as Branch).list(attempt);
  }
  return attempt;
}

/**
 * Counts bytes that the exchange keeps until its reply is written: a whole reply. Returns false
 * where the process has no room for them, or the key no part of it; they must not be kept then.
 * `undefined` where nothing is counted.
 */
export function replyHold(exchange: Exchange): ((bytes: number) => boolean) | undefined {
  return SERVICES.get(exchange)?.hold;
}
