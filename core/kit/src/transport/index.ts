/** The transport: outgoing calls and their replies. */

export { createJsonService } from "./calls/json-call.ts";
export { readRetryAfterMs } from "./calls/retry-after.ts";
export * as Tokens from "./calls/tokens.ts";
