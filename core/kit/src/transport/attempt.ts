/** One attempt: a call goes out, and a reply, a primed stream or an error comes back. The attempt's record is kept here. */

import {
  type Attempt,
  type Clock,
  type DecodedReply,
  GatewayError,
  type HttpCall,
  type ProviderInstance,
  type ProviderRequest,
  type ProviderTimeouts,
  type Reply,
  type UpstreamCall,
} from "@sluice/spec";
import { prepareJson } from "../json/prepared.ts";
import { replyTexts } from "../openai/reply-texts.ts";
import { authorize } from "./authorize.ts";
import { encodeInTurns } from "./encode-in-turns.ts";
import { asGatewayError } from "./errors.ts";
import type { CommitAfter } from "./hold.ts";
import { localResponse } from "./local.ts";
import type { FirstContent } from "./first-content.ts";
import { openStream } from "./stream.ts";
import { wholeAsStream } from "./whole-stream.ts";
import type { ConnectionPlace } from "./connection-places.ts";
import { nextTurn } from "./turns.ts";
import type { Upstream, UpstreamResponse } from "./upstream.ts";

/** What an attempt needs. */
export interface AttemptOptions {
  readonly provider: ProviderInstance;
  readonly upstream: Upstream;
  readonly request: ProviderRequest;
  readonly call: UpstreamCall;
  /** The record to fill in. */
  readonly attempt: Attempt;
  /** Whether a streaming client wants the usage chunk. */
  readonly includeUsage: boolean;
  /** Holds a stream back beyond its first content. Absent: not at all. */
  readonly commitAfter?: CommitAfter | undefined;
  /** Counts bytes of a whole reply before they are kept; false: there is no room for them. Absent: they are not counted. */
  readonly hold?: ((bytes: number) => boolean) | undefined;
  /** How long a stream may be without content. Absent: as long as something comes. */
  readonly firstContent?: FirstContent | undefined;
  /** Called once, when an event of the stream that cannot be read is left out. */
  readonly onDropped?: (() => void) | undefined;
  /** To the first byte, at most. Absent: as the provider says. */
  readonly firstByteMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The connection that the call has taken (`enterUpstream`). The attempt gives it back. */
  readonly place?: ConnectionPlace | undefined;
  /** Hears of the attempt as it goes on. */
  readonly observer?: AttemptObserver | undefined;
}

/** Hears of one attempt, at the moment when something is known of it. */
export interface AttemptObserver {
  /** The head of a successful response came. */
  answered(): void;
  /** The attempt has its outcome. A stream that began well ends later, and is not told here. */
  ended(): void;
}

/** A reply of more bytes is decoded in a turn of the event loop of its own. */
const LARGE_REPLY_BYTES = 131_072;
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
/** An error reply is read for its message: this much, this long. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_ERROR_MS = 2_000;

/**
 * Makes one upstream call. Resolves with a whole reply, or with a stream whose first content has arrived and that has been
 * held back as long as it was to be. Every failure before that is thrown as a GatewayError and recorded as a failed attempt; a stream records its own end.
 */
export async function runAttempt(options: AttemptOptions): Promise<Reply> {
  const { attempt, clock } = options;
  const startedMs = clock.monotonic();
  try {
    const reply = await run(options, startedMs);
    attempt.upstreamMs ??= clock.monotonic() - startedMs;
    if (attempt.outcome !== undefined) options.observer?.ended();
    return reply;
  } catch (error) {
    const failure = asGatewayError(error);
    attempt.outcome = "failure";
    attempt.error = failure;
    attempt.endedAtMs = clock.now();
    options.observer?.ended();
    throw failure;
  }
}

async function run(options: AttemptOptions, startedMs: number): Promise<Reply> {
  const { provider, request, call, attempt, clock, includeUsage, commitAfter, firstContent, onDropped } = options;
  const { translation } = provider;
  const response = call.kind === "local" ? localResponse(call) : await send(options, call);
  attempt.upstreamStatus = response.status;
  if (response.status < 200 || response.status > 299) {
    attempt.isUnanswered = false;
    throw await refusal(options, response);
  }
  options.observer?.answered();
  refuseCoding(response);
  if (request.stream && !isJson(response)) {
    const translator = translation.stream(request);
    return openStream({ response, translator, attempt, includeUsage, clock, startedMs, commitAfter, firstContent, onDropped });
  }
  const body = await response.body.collect(MAX_REPLY_BYTES, options.hold);
  // A large reply is a piece of work of its own.
  if (body.length > LARGE_REPLY_BYTES) await prepareJson(body, nextTurn);
  const decoded = decode(options, body, response);
  settle(options, decoded);
  // Some upstreams answer a streaming request in one piece. The reply is good, so the client gets it as it asked for it.
  if (request.stream) return wholeAsStream(decoded.document.value, includeUsage);
  return { kind: "whole", status: 200, document: decoded.document };
}

/** A reply that cannot be read may be one all the same: it was billed unless it looks like none. */
function decode({ provider, request, attempt }: AttemptOptions, body: Uint8Array, { headers }: UpstreamResponse): DecodedReply {
  try {
    return provider.translation.decode(body, request, headers);
  } catch (error) {
    attempt.isUnanswered = looksLikeReply(body);
    throw error;
  }
}

/** A JSON object that is no error, or events. Pages, empty bodies and errors with status 200 come from who has carried out nothing. */
function looksLikeReply(body: Uint8Array): boolean {
  const text = Buffer.from(body).toString("utf8").trimStart();
  return /^(?:\{(?!\s*(?:"error"|\}))|data:(?!\s*\[DONE\])|event:(?! ?error))/.test(text);
}

async function send(options: AttemptOptions, call: HttpCall): Promise<UpstreamResponse> {
  const { provider, upstream, signal, attempt, place } = options;
  const { translation } = provider;
  let ready;
  try {
    ready = authorize(translation, call, signal);
    if (ready instanceof Promise) ready = await ready;
    const body = typeof ready.body === "string" ? encodeInTurns(ready.body) : undefined;
    if (body instanceof Promise) ready = { ...ready, body: await body };
  } catch (error) {
    place?.release();
    throw error;
  }
  return upstream.send(ready, { signal, timeouts: timeoutsOf(options), attempt, place });
}

/** The deadlines of the call: a stream has its own for the first byte. */
function timeoutsOf({ provider: { timeouts }, request, firstByteMs }: AttemptOptions): ProviderTimeouts {
  const mostMs = request.stream ? (timeouts.streamFirstByteMs ?? timeouts.firstByteMs) : timeouts.firstByteMs;
  const ms = Math.min(mostMs, firstByteMs ?? Infinity);
  return ms === timeouts.firstByteMs ? timeouts : { ...timeouts, firstByteMs: ms };
}

function settle({ attempt, clock, request }: AttemptOptions, decoded: DecodedReply): void {
  attempt.endedAtMs = clock.now();
  attempt.firstContentAtMs = attempt.endedAtMs;
  attempt.outcome = "success";
  if (decoded.usage !== undefined) {
    attempt.usage = decoded.usage;
    attempt.usageSource = "provider";
  } else if (request.operation === "chat") {
    attempt.replyTexts = () => replyTexts(decoded.document.value);
  }
}

function isJson({ headers }: UpstreamResponse): boolean {
  const type = headers["content-type"];
  return typeof type === "string" && /^application\/(?:[\w.-]+\+)?json\b/i.test(type);
}

/** No coding was asked for: one that comes nevertheless cannot be read. */
function refuseCoding({ headers, body }: UpstreamResponse): void {
  const coding = headers["content-encoding"];
  if (coding === undefined || coding === "identity") return;
  body.cancel();
  throw new GatewayError("upstream_invalid_response", "The upstream's reply is compressed, which the gateway did not ask for.");
}

async function refusal({ provider, signal }: AttemptOptions, { status, headers, body }: UpstreamResponse): Promise<GatewayError> {
  const bytes = await body.excerpt(MAX_ERROR_BYTES, MAX_ERROR_MS);
  signal.throwIfAborted();
  return provider.translation.error({ status, headers, body: Buffer.from(bytes).toString("utf8") });
}
