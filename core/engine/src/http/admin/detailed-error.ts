/** Refusals of admin routes that say more than an error does. */

import { type ErrorCode, GatewayError, type JsonObject } from "@sluice/contract";

/** An error whose answer has further members beside `error`. */
export class DetailedError extends GatewayError {
  readonly details: JsonObject;

  constructor(code: ErrorCode, message: string, details: JsonObject) {
    super(code, message);
    this.details = details;
  }
}

/**
 * The error that asks for the key again, because the holder of a session may have left it open.
 * `what`: an edit or a push. `reasons`: one at least.
 */
export function keyNeeded(what: "edit" | "push", reasons: readonly string[]): DetailedError {
  const [first, ...others] = reasons;
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  return new DetailedError(
    "confirmation_required",
    `This ${what} needs the key again (POST /ui/key), because ${first}${more}.`,
    { reasons },
  );
}
