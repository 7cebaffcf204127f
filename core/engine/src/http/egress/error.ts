/** Errors on the wire. */

import type { GatewayError } from "@sluice/contract";
import { referenceForm } from "../form/reference.ts";
import type { ReplyForm } from "../form/reply-form.ts";
import { isLargeRest, leaveUnread } from "./unread.ts";
import { isResponse, type Outgoing } from "./outgoing.ts";

/** Answers with an error as JSON. Does nothing when the client is gone. */
export function writeError(
  response: Outgoing,
  error: GatewayError,
  headers: readonly string[],
  form: Pick<ReplyForm, "error"> = referenceForm(),
): void {
  if (response.destroyed || response.headersSent) return;
  const said = form.error(error);
  const body = Buffer.from(JSON.stringify(said.body));
  const all = [
    ...headers,
    "content-type",
    "application/json",
    "content-length",
    String(body.length),
  ];
  for (const [name, value] of Object.entries({ ...error.headers, ...said.headers }))
    all.push(name, value);
  if (error.retryAfterMs !== undefined)
    all.push("retry-after", String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  if (
    isResponse(response) &&
    !response.req.complete &&
    (error.headers?.["connection"] === "close" || isLargeRest(response.req))
  )
    leaveUnread(response);
  response.writeHead(said.status, all);
  response.end(body);
}
