/** Reads the wait that an upstream asks for. */

const MAX_MS = 60_000;

/**
 * Reads `retry-after-ms`, which OpenAI and Azure send and which is more precise, else
 * `Retry-After`. Seconds or HTTP date (RFC 9110 10.2.3); a date is compared with the reply's own
 * `Date`, so that a skewed clock does not matter. Returns milliseconds, at most one minute;
 * `undefined` when absent, malformed or without a reference.
 */
export function readRetryAfterMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): number | undefined {
  const precise = headers["retry-after-ms"];
  if (typeof precise === "string" && /^\d+(\.\d+)?$/.test(precise))
    return Math.min(Math.ceil(Number(precise)), MAX_MS);
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value) * 1000, MAX_MS);
  const at = Date.parse(value);
  const sent = typeof headers.date === "string" ? Date.parse(headers.date) : Number.NaN;
  if (Number.isNaN(at) || Number.isNaN(sent)) return undefined;
  return Math.min(Math.max(at - sent, 0), MAX_MS);
}
