/** The upstream's id of a request, which its support asks for. */

import type { ErrorReply } from "@sluice/contract";

/**
 * Response headers with the id, the first present one wins: OpenAI and most others; Anthropic;
 * Bedrock; Azure API Management, where its service sends none.
 */
const NAMES = ["x-request-id", "request-id", "x-amzn-requestid", "apim-request-id"];
/** Longer ids, and ids with characters that a header cannot hold, are left out. */
const ID = /^[\x21-\x7e]{1,200}$/;

/** The id in the headers of an upstream's response; `undefined` without one. */
export function upstreamRequestId(headers: ErrorReply["headers"]): string | undefined {
  for (const name of NAMES) {
    const value = headers[name];
    if (typeof value === "string" && ID.test(value)) return value;
  }
  return undefined;
}

/** A reply's id in the form of a row; `undefined` for an invalid one, and for the gateway's own. */
export function foreignReplyId(id: unknown, ownId: string | undefined): string | undefined {
  return typeof id === "string" && id !== ownId && ID.test(id) ? id : undefined;
}
