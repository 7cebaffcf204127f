/** The transport: outgoing calls and their replies. */

export { createJsonService } from "./calls/json-call.ts";
export { readRetryAfterMs } from "./calls/retry-after.ts";
export { type TokenSource, openTokens } from "./calls/token.ts";
