/**
 * One attempt: sends a call and returns a reply, a primed stream or an error. It also keeps the
 * attempt's record.
 */

import {
  type AttemptWriter,
  type Clock,
  type DecodedReply,
  type EncodedCall,
  GatewayError,
  type HttpCall,
  type MaybePromise,
  type ProviderInstance,
  type ProviderRequest,
  type ProviderTimeouts,
  type Reply,
  type UpstreamCall,
} from "@sluice/contract";
import {
  excerptOf,
  inTurns,
  prepareJson,
  Relay,
  type RelayRules,
  relayWhole,
} from "@sluice/kit/internals";
import { replyTexts } from "../openai/tokens/reply-texts.ts";
import type { BodyFilter } from "../passthrough/credential-values.ts";
import { createMasker, maskedBody } from "../passthrough/mask.ts";
import { authorize } from "./calls/prepare-call.ts";
import { asGatewayError } from "@sluice/kit/internals";
import type { CommitAfter } from "./hold.ts";
import { localResponse } from "./calls/local.ts";
import { withWrittenBody } from "./calls/written-body.ts";
import type { FirstContent } from "./replies/first-content.ts";
import type { DropListener } from "../stream/output.ts";
import { openStream } from "./stream.ts";
import { wholeAsStream } from "./replies/whole-stream.ts";
import type { ConnectionPlace } from "@sluice/kit/internals";
import { checkWholeReply, nextTurn } from "@sluice/kit/internals";
import { errorWithoutCredential, textWithoutCredential } from "./without-credential.ts";
import type { Ending, SendOptions, Upstream, UpstreamResponse } from "@sluice/kit/internals";
import { foreignReplyId, upstreamRequestId } from "./upstream-request-id.ts";

/** Options of an attempt. */
export interface AttemptOptions {
  readonly provider: ProviderInstance;
  readonly upstream: Upstream;
  readonly request: ProviderRequest;
  readonly call: UpstreamCall;
  /** The record to fill. */
  readonly attempt: AttemptWriter;
  /** Whether a streaming client asked for the usage chunk. */
  readonly includeUsage: boolean;
  /** Holds a stream back beyond its first content. Absent: not at all. */
  readonly commitAfter?: CommitAfter | undefined;
  /**
   * Counts bytes of a whole reply before they are kept; returns false when they do not fit. Absent:
   * they are not counted.
   */
  readonly hold?: ((bytes: number) => boolean) | undefined;
  /** The maximum time of a stream without content. Absent: unlimited while events arrive. */
  readonly firstContent?: FirstContent | undefined;
  readonly dropListener?: DropListener | undefined;
  /** The maximum time to the first byte. Absent: the provider's. */
  readonly firstByteMs?: number | undefined;
  /** The client's body is a large one: the upstream's is written in turns. Absent: it is not. */
  readonly isLarge?: boolean | undefined;
  readonly signal: Ending;
  readonly clock: Clock;
  /** The connection of the call (`enterUpstream`). The attempt releases it. */
  readonly place?: ConnectionPlace | undefined;
  /** Receives the progress of the attempt. */
  readonly observer?: AttemptObserver | undefined;
}

/** Receives the progress of one attempt. */
export interface AttemptObserver {
  /** The head of a successful response arrived. */
  answered(): void;
  /**
   * The attempt has its outcome. A successfully opened stream ends later and is not reported here.
   */
  ended(): void;
}

/** A reply with more bytes is decoded in a turn of the event loop of its own. */
const LARGE_REPLY_BYTES = 131_072;
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
/** Maximum bytes and time for reading an error reply. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_ERROR_MS = 2_000;

/**
 * Makes one upstream call. Resolves with a whole reply, or with a stream whose first content has
 * arrived and that was held as `commitAfter` requires. Every earlier failure is thrown as a
 * GatewayError and recorded as a failed attempt. A stream records its own end.
 */
export async function runAttempt(options: AttemptOptions): Promise<Reply> {
  const { attempt, clock } = options;
  if (attempt.noted !== undefined) await noted(attempt, options.place);
  const startedMs = clock.monotonic();
  const sent: Sent = { headers: options.call.kind === "http" ? options.call.headers : {} };
  try {
    const reply = await run(options, startedMs, sent);
    attempt.waited(clock.monotonic() - startedMs);
    if (attempt.outcome !== undefined) options.observer?.ended();
    return reply;
  } catch (error) {
    const failure = errorWithoutCredential(asGatewayError(error), sent.headers);
    attempt.fail(failure, clock.now());
    options.observer?.ended();
    throw failure;
  }
}

/**
 * Waits for the note of the call, for steps that did not. Rejects and releases the connection when
 * the call must not be made.
 */
export async function noted(
  attempt: AttemptWriter,
  place: ConnectionPlace | undefined,
): Promise<void> {
  try {
    await attempt.noted;
  } catch (error) {
    place?.release();
    throw error;
  }
}

/** The sent call: an upstream's replies and errors may quote its credential. */
interface Sent {
  headers: HttpCall["headers"];
}

async function run(options: AttemptOptions, startedMs: number, sent: Sent): Promise<Reply> {
  const {
    provider: { translation },
    request,
    call,
    attempt,
    clock,
    includeUsage,
    commitAfter,
    firstContent,
    dropListener,
  } = options;
  const { holder } = options.signal;
  const response =
    call.kind === "local" ? localResponse(call, holder) : await send(options, call, sent);
  attempt.respond(response.status, upstreamRequestId(response.headers));
  if (response.status < 200 || response.status > 299) {
    attempt.unbilled();
    throw await refusal(options, response, sent);
  }
  options.observer?.answered();
  refuseCoding(response);
  const rules = relayRules(options, response);
  if (request.stream && !isJson(response)) {
    const translator = translation.stream(request);
    const { replyId } = request;
    const clean = (error: unknown): unknown => errorWithoutCredential(error, sent.headers);
    const bounds = { commitAfter, firstContent, dropListener, clean };
    return openStream({
      relay: rules === undefined ? undefined : new Relay(rules),
      masker: maskerOf(response, sent),
      response,
      translator,
      framing: translation.framing,
      attempt,
      replyId,
      includeUsage,
      clock,
      startedMs,
      ...bounds,
    });
  }
  const collected = response.body.collect(MAX_REPLY_BYTES, options.hold, announcedBytes(response));
  const body = masked(await collected, response, sent);
  // A large reply is a piece of work of its own.
  if (body.length > LARGE_REPLY_BYTES) await inTurns(prepareJson(body), undefined, holder);
  const decoded = decode(options, body, response);
  const { document } = decoded;
  if (rules !== undefined && !request.stream) {
    if (body.length > LARGE_REPLY_BYTES) await nextTurn(undefined, holder);
    relayWhole(document, body, rules);
  }
  // Some upstreams answer a streaming request with a whole reply. It is valid, so the client gets
  // it as a stream.
  const reply: Reply = request.stream
    ? wholeAsStream(document.value, includeUsage)
    : { kind: "whole", status: 200, document };
  settle(options, decoded);
  return reply;
}

/** How the reply is relayed; `undefined` where it is translated alone. */
function relayRules(
  { call, request }: AttemptOptions,
  response: UpstreamResponse,
): RelayRules | undefined {
  const { native, replyModel: model } = request;
  if (call.kind !== "http" || call.isNative !== true || native?.replies === undefined)
    return undefined;
  // Events of another framing are no events of the client's dialect.
  if (request.stream && !isEventStream(response)) return undefined;
  return { ...native.replies, dialect: native.dialect, model };
}

/** A masker of events; `undefined` for those of a provider's own framing, which have checksums. */
function maskerOf(response: UpstreamResponse, { headers }: Sent): BodyFilter | undefined {
  return isEventStream(response) ? createMasker(headers) : undefined;
}

/** A whole body without the call's credential, where it is a text. */
function masked(body: Uint8Array, response: UpstreamResponse, { headers }: Sent): Uint8Array {
  return isJson(response) || isEventStream(response) ? maskedBody(body, headers) : body;
}

/** Decodes a reply. An unreadable reply counts as billed if it looks like a reply. */
function decode(
  { provider, request, attempt }: AttemptOptions,
  body: Uint8Array,
  { headers }: UpstreamResponse,
): DecodedReply {
  try {
    const decoded = provider.translation.decode(body, request, headers);
    const isBounded = request.operation === "chat" && body.length > LARGE_REPLY_BYTES;
    if (isBounded) checkWholeReply(decoded.document.value);
    return decoded;
  } catch (error) {
    if (looksLikeReply(body)) attempt.sent();
    else attempt.unbilled();
    throw error;
  }
}

/**
 * Whether a body is a JSON object without an error, or events. Pages, empty bodies and errors with
 * status 200 come from servers that did not run the request.
 */
function looksLikeReply(body: Uint8Array): boolean {
  const text = Buffer.from(body).toString("utf8").trimStart();
  return /^(?:\{(?!\s*(?:"error"|\}))|data:(?!\s*\[DONE\])|event:(?! ?error))/.test(text);
}

/** Without a promise of its own for a call that is ready to be sent. */
function send(options: AttemptOptions, call: EncodedCall, sent: Sent): Promise<UpstreamResponse> {
  const { place } = options;
  let ready: MaybePromise<HttpCall>;
  try {
    const written = withWrittenBody(call, options.isLarge === true, options.signal);
    ready =
      written instanceof Promise
        ? written.then((writtenCall) => authorized(options, writtenCall, sent))
        : authorized(options, written, sent);
  } catch (error) {
    place?.release();
    throw error;
  }
  return ready instanceof Promise
    ? sendLater(options, ready)
    : options.upstream.send(ready, sendOptions(options));
}

async function sendLater(
  options: AttemptOptions,
  preparing: Promise<HttpCall>,
): Promise<UpstreamResponse> {
  let ready;
  try {
    ready = await preparing;
  } catch (error) {
    options.place?.release();
    throw error;
  }
  return await options.upstream.send(ready, sendOptions(options));
}

/** A call with its credentials. */
function authorized(
  { provider, signal }: AttemptOptions,
  call: HttpCall,
  sent: Sent,
): MaybePromise<HttpCall> {
  const ready = authorize(provider.translation, call, signal);
  if (ready instanceof Promise) return ready.then((one) => shown(one, sent));
  return shown(ready, sent);
}

function shown(call: HttpCall, sent: Sent): HttpCall {
  sent.headers = call.headers;
  return call;
}

function sendOptions(options: AttemptOptions): SendOptions {
  const { signal, attempt, place } = options;
  return { signal, timeouts: timeoutsOf(options), attempt, place };
}

/** The deadlines of the call: a stream has its own for the first byte. */
function timeoutsOf({
  provider: { timeouts },
  request,
  firstByteMs,
}: AttemptOptions): ProviderTimeouts {
  const mostMs = request.stream
    ? (timeouts.streamFirstByteMs ?? timeouts.firstByteMs)
    : timeouts.firstByteMs;
  const ms = Math.min(mostMs, firstByteMs ?? Infinity);
  return ms === timeouts.firstByteMs ? timeouts : { ...timeouts, firstByteMs: ms };
}

function settle({ attempt, clock, request }: AttemptOptions, decoded: DecodedReply): void {
  const nowMs = clock.now();
  attempt.firstContent(nowMs);
  attempt.identify(foreignReplyId(decoded.document.value["id"], request.replyId));
  if (decoded.usage !== undefined) attempt.report(decoded.usage);
  // Without a count of the completion its texts are counted.
  if (request.operation === "chat" && (decoded.usage?.completionTokens ?? 0) === 0) {
    attempt.observe({ texts: () => replyTexts(decoded.document.value), scale: 1 });
  }
  attempt.succeed(nowMs);
}

function isJson({ headers }: UpstreamResponse): boolean {
  const type = headers["content-type"];
  if (type === "application/json") return true;
  return typeof type === "string" && /^application\/(?:[\w.-]+\+)?json\b/i.test(type);
}

function isEventStream({ headers }: UpstreamResponse): boolean {
  const type = headers["content-type"];
  return typeof type === "string" && /^text\/event-stream\b/i.test(type);
}

/** The length that the head announces; 0 without one. */
function announcedBytes({ headers }: UpstreamResponse): number {
  const length = Number(headers["content-length"] ?? 0);
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

/** No coding was requested: a compressed reply cannot be read. */
function refuseCoding({ headers, body }: UpstreamResponse): void {
  if (headers["content-encoding"] === undefined) return;
  body.cancel();
  throw new GatewayError(
    "upstream_invalid_response",
    "The upstream's reply is compressed, although the gateway asked for an uncompressed one.",
  );
}

async function refusal(
  { provider, signal }: AttemptOptions,
  { status, headers, body }: UpstreamResponse,
  sent: Sent,
): Promise<GatewayError> {
  const bytes = await excerptOf(body, MAX_ERROR_BYTES, MAX_ERROR_MS);
  if (signal.aborted) throw signal.reason;
  // Removed before the error is read: a truncated text could keep a part of the credential.
  return provider.translation.error({
    status,
    headers,
    body: textWithoutCredential(Buffer.from(bytes).toString("utf8"), sent.headers),
  });
}
