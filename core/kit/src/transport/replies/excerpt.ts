/** The beginning of an upstream's response, for error replies. */

import { type ResponseBody, tooLarge } from "./body.ts";
import { Gathered } from "./gathered.ts";

/**
 * The beginning of a body: the bytes that arrive within these bounds, before any failure. A longer
 * body is cancelled.
 */
export async function excerptOf(
  body: ResponseBody,
  maxBytes: number,
  maxMs: number,
): Promise<Uint8Array> {
  const gathered = new Gathered();
  const timer = setTimeout(() => body.cancel(tooLarge()), maxMs);
  try {
    for (let more = await body.read(); more !== undefined; more = await body.read()) {
      for (const chunk of more) gathered.push(chunk);
      if (gathered.length > maxBytes) body.cancel(tooLarge());
    }
  } catch {
    // Only the beginning was needed.
  } finally {
    clearTimeout(timer);
  }
  return gathered.take().subarray(0, maxBytes);
}
