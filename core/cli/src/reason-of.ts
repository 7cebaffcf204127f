/** The reason of a failure in a few words, for one line of output. */

import { errorMessage } from "@sluice/contract";

/** The system's code of the cause, such as `ECONNREFUSED`, else the cause's message. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string")
    return cause.code;
  return errorMessage(cause);
}
