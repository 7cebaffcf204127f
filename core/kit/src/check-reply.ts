/** What a step has set as a reply: whether it is one. */

import type { Reply } from "@sluice/spec";

/**
 * Throws `Error` for what is no reply: a step that sets it fails, and the request is answered. Looks at the members alone, reads
 * no body and serialises nothing.
 */
export function checkReply(reply: unknown): asserts reply is Reply {
  const fault = faultOf(reply);
  if (fault !== undefined) throw new Error(`What was set as the reply is none: ${fault}.`);
}

function faultOf(reply: unknown): string | undefined {
  if (typeof reply !== "object" || reply === null) return `it is ${reply === null ? "null" : `a ${typeof reply}`}`;
  const { kind, status } = reply as Partial<Reply>;
  if (typeof status !== "number" || !Number.isInteger(status) || status < 200 || status > 599) {
    return "its `status` is no integer from 200 to 599";
  }
  switch (kind) {
    case "whole": {
      const { document } = reply as { readonly document?: unknown };
      const isDocument = isObject(document) && ("bytes" in document || "pieces" in document);
      return isDocument ? undefined : "its `document` is no JSON document";
    }
    case "stream":
      return isAsyncIterable((reply as { readonly frames?: unknown }).frames) ? undefined : "its `frames` cannot be iterated";
    case "bytes": {
      const { body, headers } = reply as { readonly body?: unknown; readonly headers?: unknown };
      if (!isAsyncIterable(body)) return "its `body` cannot be iterated";
      return isObject(headers) ? undefined : "its `headers` are no object";
    }
    default:
      return "its `kind` is not whole, stream or bytes";
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return isObject(value) && typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function";
}
