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
