/** One native call: bytes in both directions, with the usage read on the way. */

import {
  type AttemptWriter,
  type BytesReply,
  type Clock,
  GatewayError,
  type HttpCall,
  type ImageUsage,
  isGatewayError,
  type NativeUsage,
  type ProviderInstance,
  type ReplyText,
  type StreamFraming,
  type Usage,
} from "@sluice/contract";
import { noted } from "../transport/attempt.ts";
import { authorize } from "../transport/calls/prepare-call.ts";
import { closing } from "../stream/closing.ts";
import {
  asGatewayError,
  type ConnectionPlace,
  type Ending,
  type Upstream,
  type UpstreamResponse,
} from "@sluice/kit/internals";
import { Native } from "@sluice/kit/passthrough";
import { foreignReplyId, upstreamRequestId } from "../transport/upstream-request-id.ts";
import { cleanErrorBody, cleanErrorHeaders } from "./error-body.ts";
import { createReplyDecoder, type ReplyDecoder } from "./decoder.ts";
import type { BodyFilter } from "./credential-values.ts";
import { createMasker } from "./mask.ts";
import { createUsageMeter, type UsageMeter } from "./meter.ts";
import { nativeReplyHeaders } from "./reply-headers.ts";

/** The text of a reply before its first byte. */
const NO_TEXT: ReplyText = { texts: () => [], scale: 1 };

/** Options of a native call. */
export interface PassthroughOptions {
  readonly provider: ProviderInstance;
  readonly upstream: Upstream;
  readonly call: HttpCall;
  /** The record to fill. */
  readonly attempt: AttemptWriter;
  readonly signal: Ending;
  readonly clock: Clock;
  /** The connection of the call (`enterUpstream`). The call releases it. */
  readonly place?: ConnectionPlace | undefined;
  /** The source of the reply's usage. Absent: `text`. */
  readonly usage?: NativeUsage;
  /** Whether the endpoint generates text. A total of zero is then wrong for a reply with text. */
  readonly generates?: boolean;
  /**
   * The gateway's own address of the provider, for headers that name the upstream's. Absent: those
   * headers are dropped.
   */
  readonly address?: string | undefined;
  /** The size and quality of the images that the request asks for. */
  readonly images?: Omit<ImageUsage, "count"> | undefined;
}

/**
 * Makes a native call. Resolves with the response's head for any status: status, body and errors
 * are the upstream's. The provider's credential is removed from errors, and masked elsewhere. The
 * gateway asks for no content coding; a compressed reply is relayed unchanged. Throws only without
 * a response. The body records the attempt's end.
 */
export async function runPassthrough(options: PassthroughOptions): Promise<BytesReply> {
  const { provider, upstream, attempt, signal, clock, place, usage = "text" } = options;
  if (attempt.noted !== undefined) await noted(attempt, place);
  const startedMs = clock.monotonic();
  // From here the request may be billed: an unreported usage is counted from it.
  if (usage === "text" || usage === "prompt") attempt.observe(NO_TEXT);
  // Such a reply has no text: only its prompt can be counted.
  if (usage === "prompt") attempt.reserve(undefined);
  try {
    const call = await authorize(provider.translation, options.call, signal);
    // A read is not billed.
    const sent = call.method === "POST" ? { attempt } : {};
    const response = await upstream.send(call, {
      signal,
      timeouts: provider.timeouts,
      place,
      ...sent,
    });
    attempt.waited(clock.monotonic() - startedMs);
    attempt.respond(undefined, upstreamRequestId(response.headers));
    const { status } = response;
    // A refusal is not billed.
    if (status >= 300) attempt.unbilled();
    if (status > 599) {
      const error = new GatewayError(
        "upstream_invalid_response",
        `The upstream answered with the invalid HTTP status ${status}.`,
      );
      response.body.cancel(error);
      throw error;
    }
    const headers = nativeReplyHeaders(response, call, provider, options.address);
    const isCoded = headers["content-encoding"] !== undefined;
    const masker = status < 400 && !isCoded ? createMasker(call.headers) : undefined;
    const body = meteredBody(response, options, masker);
    if (status < 400) return { kind: "bytes", status, headers, body };
    const cleaned = closing(cleanErrorBody(body, headers, call), () => body.return());
    return { kind: "bytes", status, headers: cleanErrorHeaders(headers), body: cleaned };
  } catch (error) {
    place?.release();
    const failure = asGatewayError(error);
    attempt.fail(failure, clock.now());
    throw failure;
  }
}

/** The masked body. A reader that stops early or never begins destroys the connection. */
function meteredBody(
  response: UpstreamResponse,
  options: PassthroughOptions,
  masker: BodyFilter | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { provider, attempt, clock, signal, usage = "text" } = options;
  const { body, status } = response;
  // A refusal is not billed, and a free reply is not counted.
  const metering =
    status < 400 && usage !== "free"
      ? openMetering(response, provider.translation.framing)
      : undefined;
  let ending: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    const isCut = attempt.outcome === undefined;
    if (isCut) {
      const reason: unknown = signal.reason;
      const gone = isGatewayError(reason)
        ? reason
        : new GatewayError("client_closed", "The client closed the connection.");
      attempt.cut(gone, clock.now());
      body.cancel(attempt.error);
    }
    await metering?.decoder?.end();
    if (metering !== undefined) record(metering.meter, response, options, isCut);
  };
  const endOnce = (): Promise<void> => (ending ??= end());
  return closing(readBody(response, options, { metering, masker }, endOnce), endOnce);
}

async function* readBody(
  { body, status }: UpstreamResponse,
  { attempt, clock }: PassthroughOptions,
  {
    metering,
    masker,
  }: { readonly metering: Metering | undefined; readonly masker: BodyFilter | undefined },
  end: () => Promise<void>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for (let chunks = await body.read(); chunks !== undefined; chunks = await body.read()) {
      if (status < 400 && attempt.firstContentAtMs === undefined) attempt.firstContent(clock.now());
      for (const chunk of chunks) {
        metering?.push(chunk);
        const shown = masker === undefined ? chunk : masker.push(chunk);
        if (shown.length > 0) yield shown;
      }
    }
    const rest = masker?.end();
    if (rest !== undefined && rest.length > 0) yield rest;
    if (status < 400) attempt.succeed(clock.now());
    else attempt.fail(rejected(status), clock.now());
  } catch (error) {
    const failure = asGatewayError(error);
    // One that breaks before its first byte is billed as one of the chat route.
    if (attempt.firstContentAtMs === undefined) attempt.fail(failure, clock.now());
    else attempt.interrupt(failure);
    throw failure;
  } finally {
    await end();
  }
}

function rejected(status: number): GatewayError {
  return new GatewayError("upstream_rejected", `The upstream answered with status ${status}.`, {
    status,
  });
}

interface Metering {
  readonly meter: UsageMeter;
  readonly decoder: ReplyDecoder | undefined;
  push(chunk: Uint8Array): void;
}

function openMetering({ headers }: UpstreamResponse, framing: StreamFraming | undefined): Metering {
  const { "content-type": type, "content-encoding": coding, "finish-reason": ended } = headers;
  const meter = createUsageMeter({
    contentType: textOf(type),
    finishReason: textOf(ended),
    framing,
  });
  const isCoded = coding !== undefined;
  const decoder = isCoded
    ? createReplyDecoder(String(coding), (chunk) => meter.push(chunk))
    : undefined;
  return { meter, decoder, push: (chunk) => (isCoded ? decoder : meter)?.push(chunk) };
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A reply does not always say the size and quality of its images; the request does. */
function withTraits(
  usage: Usage | undefined,
  traits: Omit<ImageUsage, "count"> | undefined,
): Usage | undefined {
  return usage?.images === undefined ? usage : { ...usage, images: { ...traits, ...usage.images } };
}

/** The reported usage, or the counted one. */
function record(
  meter: UsageMeter,
  { headers }: UpstreamResponse,
  options: PassthroughOptions,
  isCut: boolean,
): void {
  const { attempt, usage = "text", generates = false } = options;
  const reported = withTraits(meter.end(), options.images);
  attempt.identify(foreignReplyId(meter.replyId, undefined));
  const total = meter.isTotal(isCut)
    ? reported
    : (Native.readHeaderUsage(headers) ?? (usage === "reported" ? reported : undefined));
  if (usage === "text" && meter.isRead) {
    attempt.observe(meter);
  } else if (usage === "text" && attempt.outcome !== "failure") {
    attempt.observe(undefined);
  }
  if (total !== undefined) {
    if (!generates) attempt.observe(undefined);
    attempt.report(total);
    return;
  }
  attempt.reportLeast(reported);
}
