/**
 * The headers that count when two requests are compared: those that reach an upstream and may
 * change its answer.
 */

import type { Exchange, ProviderInstance } from "@sluice/contract";
import { isCallHeaderValue, stepHeaders } from "./calls/call-headers.ts";

/** Headers that name one request or span, or carry a trace. They differ between equal requests. */
const TRACES: ReadonlySet<string> = new Set([
  "b3",
  "baggage",
  "idempotency-key",
  "sentry-trace",
  "traceparent",
  "tracestate",
  "uber-trace-id",
  "x-amzn-trace-id",
  "x-client-request-id",
  "x-cloud-trace-context",
  "x-correlation-id",
  "x-request-id",
  "x-stainless-retry-count",
]);
const TRACE_FAMILIES = ["x-b3-", "x-datadog-"];

/**
 * The names in `pass_headers` of some providers that may change an answer: sorted, each once,
 * without traces.
 */
export function answerHeaderNames(
  providers: Iterable<ProviderInstance | undefined>,
): readonly string[] {
  const names = new Set<string>();
  for (const provider of providers) for (const name of provider?.passHeaders ?? []) names.add(name);
  return [...names].filter(mayAnswerBy).toSorted();
}

/**
 * The client's values under these names, as alternating names and values. A value that is not
 * forwarded is left out.
 */
export function sentHeaders(
  { client }: Pick<Exchange, "client">,
  names: readonly string[],
): readonly string[] {
  if (names.length === 0) return NONE;
  return names.flatMap((name) => {
    const value = client.header(name);
    return value !== undefined && isCallHeaderValue(value) ? [name, value] : [];
  });
}

/** The same for the headers that steps have added so far. */
export function addedHeaders(exchange: Exchange): readonly string[] {
  const headers = stepHeaders(exchange);
  if (headers === undefined) return NONE;
  return [...headers]
    .filter(([name]) => mayAnswerBy(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flat();
}

const NONE: readonly string[] = Object.freeze([]);

function mayAnswerBy(name: string): boolean {
  return !TRACES.has(name) && !TRACE_FAMILIES.some((family) => name.startsWith(family));
}
