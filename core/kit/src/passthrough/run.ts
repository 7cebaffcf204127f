/** One native call: bytes out, bytes back, the usage read on the way. */

import {
  type Attempt,
  type BytesReply,
  type Clock,
  GatewayError,
  type HttpCall,
  isGatewayError,
  type NativeUsage,
  type ProviderInstance,
} from "@sluice/spec";
import { authorize } from "../transport/authorize.ts";
import { asGatewayError } from "../transport/errors.ts";
import type { ConnectionPlace } from "../transport/connection-places.ts";
import type { Upstream, UpstreamResponse } from "../transport/upstream.ts";
import { cleanErrorBody, cleanErrorHeaders } from "./error-body.ts";
import { createReplyDecoder, type ReplyDecoder } from "./decoder.ts";
import { createUsageMeter, type UsageMeter } from "./meter.ts";
import { readHeaderUsage } from "./native-usage.ts";
import { nativeReplyHeaders } from "./reply-headers.ts";

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
  /** How the usage of the reply is known. Absent: `text`. */
  readonly usage?: NativeUsage;
  /** The gateway's own address of the provider, for headers that name the upstream's. Absent: those headers are dropped. */
  readonly address?: string | undefined;
}

/**
 * Makes a native call. Resolves when the response's head is there, whatever its status: status, body and errors are the
 * upstream's word, without the value of the provider's credential. Throws only when there is no response. The body records the
 * attempt's end.
 */
export async function runPassthrough(options: PassthroughOptions): Promise<BytesReply> {
  const { provider, upstream, attempt, signal, clock, place, usage = "text" } = options;
  const startedMs = clock.monotonic();
  // From here on the request may be billed: what is not reported is counted from it.
  if (usage === "text" || usage === "prompt") attempt.replyTexts = () => [];
  // Such a reply says nothing: its prompt is all that there is to count.
  if (usage === "prompt") attempt.reserved = undefined;
  try {
    const call = await authorize(provider.translation, options.call, signal);
    // What only reads bills nothing.
    const sent = call.method === "POST" ? { attempt } : {};
    const response = await upstream.send(call, { signal, timeouts: provider.timeouts, place, ...sent });
    attempt.upstreamMs = clock.monotonic() - startedMs;
    const { status } = response;
    const headers = nativeReplyHeaders(response, call, provider, options.address);
    const body = meteredBody(response, options);
    if (status < 400) return { kind: "bytes", status, headers, body };
    return { kind: "bytes", status, headers: cleanErrorHeaders(headers), body: cleanErrorBody(body, headers, call) };
  } catch (error) {
    place?.release();
    const failure = asGatewayError(error);
    attempt.outcome = "failure";
    attempt.error = failure;
    attempt.endedAtMs = clock.now();
    throw failure;
  }
}

/** The body as it comes. Whoever stops reading early destroys the connection. */
async function* meteredBody(
  response: UpstreamResponse,
  options: PassthroughOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { attempt, clock, signal, usage = "text" } = options;
  const { body, status } = response;
  // A refusal is not billed, and what is free is not counted.
  const metering = status < 400 && usage !== "free" ? openMetering(response) : undefined;
  try {
    for (let chunks = await body.read(); chunks !== undefined; chunks = await body.read()) {
      if (status < 400) attempt.firstContentAtMs ??= clock.now();
      for (const chunk of chunks) {
        metering?.push(chunk);
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
    const isCut = attempt.outcome === undefined;
    if (isCut) {
      attempt.outcome = "partial";
      attempt.error ??= isGatewayError(signal.reason)
        ? signal.reason
        : new GatewayError("client_closed", "The client closed the connection.");
      body.cancel(attempt.error);
    }
    await metering?.decoder?.end();
    if (metering !== undefined) record(metering.meter, response, attempt, usage, isCut);
    attempt.endedAtMs = clock.now();
  }
}

interface Metering {
  readonly meter: UsageMeter;
  readonly decoder: ReplyDecoder | undefined;
  push(chunk: Uint8Array): void;
}

function openMetering({ headers }: UpstreamResponse): Metering {
  const { "content-type": type, "content-encoding": coding, "finish-reason": ended } = headers;
  const meter = createUsageMeter(textOf(type), textOf(ended));
  const isCoded = coding !== undefined && coding !== "identity";
  const decoder = isCoded ? createReplyDecoder(String(coding), (chunk) => meter.push(chunk)) : undefined;
  return { meter, decoder, push: (chunk) => (isCoded ? decoder : meter)?.push(chunk) };
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** What the reply reported, or what there is to count of it. */
function record(meter: UsageMeter, { headers }: UpstreamResponse, attempt: Attempt, usage: NativeUsage, isCut: boolean): void {
  const reported = meter.end();
  const total = meter.isTotal(isCut) ? reported : (readHeaderUsage(headers) ?? (usage === "reported" ? reported : undefined));
  if (total !== undefined) {
    attempt.usage = total;
    attempt.usageSource = "provider";
    return;
  }
  attempt.leastUsage = reported;
  if (usage === "text" && meter.isRead) {
    attempt.replyTexts = () => meter.texts();
    attempt.replyScale = () => meter.scale();
  } else if (usage === "text") {
    attempt.replyTexts = undefined;
  }
}
