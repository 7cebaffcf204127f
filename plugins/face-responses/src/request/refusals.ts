/** Refusals of a request: 400 with the client's own path. */

import { GatewayError } from "@sluice/contract";

/** A request that the face cannot serve. `message` says what to do. */
export function refused(path: string, message: string): GatewayError {
  return new GatewayError("invalid_field", message, { param: path });
}

/** What needs a state that this request has not. */
export function needsState(path: string, what: string): GatewayError {
  return refused(
    path,
    `${path} refers to ${what}, and responses are not stored here. Send the full history in input.`,
  );
}

/** A type of a client for a message: of bounded length. */
export function shown(type: unknown): string {
  return String(type).slice(0, 64);
}
