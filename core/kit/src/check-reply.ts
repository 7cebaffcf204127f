/** Checks the reply that a step has set. */

import type { Reply } from "@sluice/contract";

/**
 * Throws `Error` for a value that is not a reply: the step that set it fails, and the request gets
 * an error reply. Reads the members only. It reads no body and serialises nothing.
 */
export function checkReply(reply: unknown): asserts reply is Reply {
  const fault = faultOf(reply);
  if (fault !== undefined) throw new Error(`The step set an invalid reply: ${fault}.`);
}

function faultOf(reply: unknown): string | undefined {
  if (typeof reply !== "object" || reply === null)
    return `it is ${reply === null ? "null" : `a ${typeof reply}`}`;
  const { kind, status } = reply as Partial<Reply>;
  if (typeof status !== "number" || !Number.isInteger(status) || status < 200 || status > 599) {
    return "its `status` is not an integer from 200 to 599";
  }
  switch (kind) {
    case "whole": {
      const { document } = reply as { readonly document?: unknown };
      const isDocument = isObject(document) && ("bytes" in document || "pieces" in document);
      return isDocument ? undefined : "its `document` is not a JSON document";
    }
    case "stream":
      return isAsyncIterable((reply as { readonly frames?: unknown }).frames)
        ? undefined
        : "its `frames` cannot be iterated";
    case "bytes": {
      const { body, headers } = reply as { readonly body?: unknown; readonly headers?: unknown };
      if (!isAsyncIterable(body)) return "its `body` cannot be iterated";
      return isObject(headers) ? undefined : "its `headers` are not an object";
    }
    default:
      return "its `kind` is not whole, stream or bytes";
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    isObject(value) &&
    typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function"
  );
}
