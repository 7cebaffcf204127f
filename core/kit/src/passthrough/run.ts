/** One native call: bytes out, bytes back, the usage read on the way. */

import {
  type Attempt,
  type BytesReply,
  type Clock,
  GatewayError,
  type HttpCall,
  isGatewayError,
  type ProviderInstance,
} from "@sluice/spec";
import { authorize } from "../transport/authorize.ts";
import { asGatewayError } from "../transport/errors.ts";
import type { ConnectionPlace } from "../transport/connection-places.ts";
import type { Upstream, UpstreamResponse } from "../transport/upstream.ts";
import { createUsageMeter } from "./meter.ts";
import { readHeaderUsage } from "./native-usage.ts";

/** What a native call needs. */
export interface PassthroughOptions {
  readonly provider: ProviderInstance;
  readonly upstream: Upstream;
  readonly call: HttpCall;
  /** The record to fill in. */
  readonly attempt: Attempt;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The connection that the call has taken (`enterUpstream`). The call gives it back. */
  readonly place?: ConnectionPlace | undefined;
}

/** Response headers that are the client's business. Rate limits of a shared credential, cookies and server names are not. */
const FORWARDED = [
  "content-type",
  "content-length",
  "content-encoding",
  "content-disposition",
  "retry-after",
  "x-amzn-errortype",
];

/**
 * Makes a native call. Resolves when the response's head is there, whatever its status: status, body and errors are the
 * upstream's word. Throws only when there is no response. The body records the attempt's end.
 */
export async function runPassthrough(options: PassthroughOptions): Promise<BytesReply> {
  const { provider, upstream, attempt, signal, clock, place } = options;
  const startedMs = clock.monotonic();
  try {
    const call = await authorize(provider.translation, options.call, signal);
    // What only reads bills nothing.
    const sent = call.method === "POST" ? { attempt } : {};
    const response = await upstream.send(call, { signal, timeouts: provider.timeouts, place, ...sent });
    attempt.upstreamMs = clock.monotonic() - startedMs;
    return { kind: "bytes", status: response.status, headers: replyHeaders(response), body: meteredBody(response, options) };
  } catch (error) {
    place?.release();
    const failure = asGatewayError(error);
    attempt.outcome = "failure";
    attempt.error = failure;
    attempt.endedAtMs = clock.now();
    throw failure;
  }
}

function replyHeaders({ headers }: UpstreamResponse): Record<string, string> {
  const kept: Record<string, string> = { "x-content-type-options": "nosniff" };
  for (const name of FORWARDED) {
    const value = headers[name];
    if (typeof value === "string") kept[name] = value;
  }
  const id = headers["x-request-id"] ?? headers["request-id"] ?? headers["x-amzn-requestid"];
  if (typeof id === "string") kept["x-upstream-request-id"] = id;
  return kept;
}

/** The body as it comes. Whoever stops reading early destroys the connection. */
async function* meteredBody(
  response: UpstreamResponse,
  options: PassthroughOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { attempt, clock, signal } = options;
  const { body, headers, status } = response;
  const type = headers["content-type"];
  const isReadable = typeof type === "string" && headers["content-encoding"] === undefined;
  const ended = headers["finish-reason"];
  const meter = createUsageMeter(isReadable ? type : undefined, typeof ended === "string" ? ended : undefined);
  try {
    for (let chunks = await body.read(); chunks !== undefined; chunks = await body.read()) {
      attempt.firstContentAtMs ??= clock.now();
      for (const chunk of chunks) {
        meter.push(chunk);
        yield chunk;
      }
    }
    attempt.outcome = status < 400 ? "success" : "failure";
    if (status >= 400)
      attempt.error = new GatewayError("upstream_rejected", `The upstream answered with status ${status}.`, { status });
  } catch (error) {
    attempt.error = asGatewayError(error);
    throw attempt.error;
  } finally {
    const usage = meter.end() ?? readHeaderUsage(headers);
    if (usage !== undefined) {
      attempt.usage = usage;
      attempt.usageSource = "provider";
    }
    if (attempt.outcome === undefined) {
      attempt.outcome = "partial";
      attempt.error ??= isGatewayError(signal.reason)
        ? signal.reason
        : new GatewayError("client_closed", "The client closed the connection.");
      body.cancel(attempt.error);
    }
    attempt.endedAtMs = clock.now();
  }
}
