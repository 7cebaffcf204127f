/**
 * A call that identical requests share (single-flight): joins the running call of a duplicate
 * request, or makes a call that others may join.
 */

import {
  copyAttempt,
  framesFor,
  mayHaveTarget,
  REPLY_SIGNAL,
  type ReplayBuffer,
  replayFrames,
  SERVED,
} from "@sluice/runtime";
import { branchOf } from "@sluice/kit";
import {
  asGatewayError,
  type BatchedFrames,
  type FrameBatch,
  unlessAborted,
} from "@sluice/kit/internals";
import {
  type Attempt,
  type AttemptWriter,
  type Exchange,
  GatewayError,
  type GatewayRequest,
  type Host,
  type Next,
  type Reply,
  type MaybePromise,
  type StateCache,
  type StepContext,
  type Usage,
  type WholeReply,
} from "@sluice/contract";
import type { CacheOptions } from "./config.ts";
import { decodeEntry, type Entry } from "./entry.ts";
import {
  type SingleFlight,
  type SingleFlightGroup,
  isOwnFailure,
  type FlightResult,
} from "./single-flight.ts";
import type { CacheKeys } from "./key.ts";
import type { CacheDirectives } from "./directives.ts";
import { wholeAttempt } from "../retry/joined-usage.ts";
import { withoutUsage } from "./usage-frame.ts";

/** Values: `hit`, `miss` or `bypass`. */
export const CACHE_HEADER = "x-sluice-cache";

/** The dependencies of one step. */
export interface CacheParts {
  readonly host: Host;
  readonly options: CacheOptions;
  readonly keys: CacheKeys;
  readonly flights: SingleFlightGroup;
}

/**
 * The entry of a key, if it exists and is fresh enough. A failing cache has no entries. Never
 * throws or rejects.
 */
export function findEntry(
  cache: StateCache,
  key: string,
  directives: CacheDirectives,
  host: Host,
): MaybePromise<Entry | undefined> {
  const unread = (error: unknown): undefined => {
    host.log.warn("the cache could not be read", { error });
  };
  try {
    const found = cache.get(key);
    return found instanceof Promise
      ? found.then((bytes) => youngEntry(bytes, directives, host), unread)
      : youngEntry(found, directives, host);
  } catch (error) {
    return unread(error);
  }
}

function youngEntry(
  bytes: Uint8Array | undefined,
  { maxAgeMs }: CacheDirectives,
  { clock }: Host,
): Entry | undefined {
  const entry = bytes === undefined ? undefined : decodeEntry(bytes);
  return entry !== undefined && clock.now() - entry.head.storedAtMs <= maxAgeMs ? entry : undefined;
}

/** A call that duplicate requests may share. */
export interface SharedCall {
  readonly ctx: StepContext;
  readonly next: Next;
  readonly directives: CacheDirectives;
  readonly parts: CacheParts;
  /** The key by which duplicate requests find the call. */
  readonly key: string;
  /** The request for the inner steps. */
  readonly ask: GatewayRequest;
  /** Completes a reply before any reader gets it. */
  readonly complete?: (reply: WholeReply, attempt: Attempt) => WholeReply;
  /** Stores the result of the call. Runs when the exchange is over. */
  readonly store: (result: FlightResult) => Promise<void> | undefined;
}

/** Joins the running call of a duplicate request, or makes the call. */
export function runShared(call: SharedCall): Promise<void> {
  const { directives, parts, key } = call;
  if (!parts.options.collapse || !directives.stores) return lead(call, false);
  const running = parts.flights.find(key);
  if (running === undefined) return lead(call, true);
  return directives.reads ? joinOrLead(call, running) : lead(call, false);
}

/**
 * Joins a running call. When it fails for its leader's own reasons, one waiting request makes the
 * next call.
 */
async function joinOrLead(call: SharedCall, first: SingleFlight): Promise<void> {
  const { parts, key, ctx } = call;
  for (
    let flight: SingleFlight | undefined = first;
    flight !== undefined;
    flight = parts.flights.find(key)
  ) {
    const end = await join(flight, ctx.exchange, parts.host);
    if (end === "served") return;
    if (end === "withheld") return lead(call, false);
  }
  await lead(call, true);
}

/** Makes the call under a signal that outlives the client while another request waits. */
async function lead(
  { ctx, next, parts, key, ask, complete, store }: SharedCall,
  isShared: boolean,
): Promise<void> {
  const { exchange } = ctx;
  const { flights, host, options } = parts;
  const { request } = exchange;
  const flight = flights.open(key, isShared);
  flight.follow(exchange, host.clock);
  const branch = branchOf(exchange, flight.controller);
  branch.request = ask;
  try {
    branch.signal.throwIfAborted();
    await next({ exchange: branch });
    branch.adopt();
    exchange.request = request;
    const last = branch.attempts.findLast(({ error }) => error === undefined);
    const attempt = last === undefined ? undefined : wholeAttempt(exchange, last);
    const result = landingOf(exchange.reply, attempt, options.maxEntryBytes, complete);
    if (result === undefined) {
      flight.fail(
        new GatewayError("overloaded", "Nothing came of the call that others could share."),
      );
      flights.remove(key, flight);
      return;
    }
    // Joined first: the reader of a request that waits might otherwise be the last one, and close
    // the stream.
    if (result.kind === "stream") {
      const { buffer } = result;
      // This exchange pays for the call: it is over when the last reader has reached the end.
      const frames = framesReadBy(exchange, buffer, () => buffer.ended);
      REPLY_SIGNAL.set(exchange, flight.controller.signal);
      exchange.reply = { kind: "stream", status: 200, frames };
    } else exchange.reply = result.reply;
    flight.complete(result);
    exchange.lifetime.onSettle(() =>
      settle(
        () => store(result),
        () => flights.remove(key, flight),
        host,
      ),
    );
  } catch (error) {
    flight.fail(error);
    flights.remove(key, flight);
    throw error;
  }
}

/**
 * The result of a call for duplicate requests; `undefined` for a reply without a call, or of a kind
 * that cannot be shared.
 */
function landingOf(
  reply: Reply | undefined,
  attempt: Attempt | undefined,
  maxBytes: number,
  complete: SharedCall["complete"],
): FlightResult | undefined {
  if (attempt === undefined) return undefined;
  if (reply?.kind === "whole")
    return { kind: "whole", reply: complete?.(reply, attempt) ?? reply, attempt };
  return reply?.kind === "stream"
    ? { kind: "stream", buffer: replayFrames(reply.frames, { maxBytes, keepsRead: true }), attempt }
    : undefined;
}

/** Runs after the reply: duplicate requests find the flight until the entry is stored. */
function settle(store: () => Promise<void> | undefined, close: () => void, { log }: Host): void {
  const lost = (error: unknown): void =>
    log.warn("a reply could not be kept in the cache", { error });
  let stored: Promise<void> | undefined;
  try {
    stored = store();
  } catch (error) {
    lost(error);
  }
  if (stored === undefined) close();
  else void stored.catch(lost).then(close);
}

/**
 * Waits for the reply of a running call. `gone`: the call failed for its leader's own reasons.
 * `withheld`: a model answered that this key may not use.
 */
async function join(
  flight: SingleFlight,
  exchange: Exchange,
  host: Host,
): Promise<"served" | "gone" | "withheld"> {
  const { clock } = host;
  flight.join();
  let result: FlightResult;
  try {
    result = await unlessAborted(flight.result, exchange.signal);
  } catch (error) {
    flight.leave(error);
    if (exchange.signal.aborted || !isOwnFailure(error)) throw error;
    return "gone";
  }
  const { attempt } = result;
  if (!mayHave(exchange, attempt, host)) return "withheld";
  const usage = sumOf(SERVED.get(exchange)?.usage, attempt.usage);
  if (result.kind === "stream" && !result.buffer.isOpen) return "gone";
  // A cut of the leader's own reply does not apply to this one.
  const served = copyAttempt(attempt, exchange.lifetime.startedAtMs);
  SERVED.set(exchange, served);
  served.firstContent(clock.now());
  if (usage !== undefined) served.report(usage, attempt.usageSource);
  if (result.kind === "whole") {
    served.succeed(clock.now());
    exchange.reply = result.reply;
  } else {
    exchange.reply = {
      kind: "stream",
      status: 200,
      frames: readAlong(result.buffer, attempt, served, exchange, clock),
    };
  }
  exchange.headers.set(CACHE_HEADER, "hit");
  exchange.note("cache", "shared the call of an identical request");
  return "served";
}

/**
 * Whether a reply is by the requested model, or by a fallback model that this key may use with the
 * tags of its request.
 */
function mayHave(
  exchange: Exchange,
  { model: answerer, target }: Attempt,
  { authority }: Host,
): boolean {
  const { identity, model } = exchange;
  if (answerer === undefined || answerer.id === model?.id) return true;
  if (identity === undefined || !authority.mayUse(identity, answerer)) return false;
  return mayHaveTarget(answerer, target, exchange);
}

/** The stored tokens and those of the call, for a reply made of both. */
function sumOf(kept: Usage | undefined, called: Usage | undefined): Usage | undefined {
  if (kept === undefined || called === undefined) return called;
  const promptTokens = kept.promptTokens + called.promptTokens;
  return { promptTokens, completionTokens: 0, totalTokens: promptTokens };
}

/** The frames of a shared stream for one exchange. */
function framesReadBy(
  { request, signal }: Exchange,
  buffer: ReplayBuffer<FrameBatch>,
  onEnd: (error: unknown) => void | Promise<void>,
): BatchedFrames {
  return framesFor(
    buffer.join({ signal, onEnd, ...(request?.includeUsage !== true && { select: withoutUsage }) }),
  );
}

/** The stream of a joined call. The record of the served reply is completed at its end. */
function readAlong(
  buffer: ReplayBuffer<FrameBatch>,
  attempt: Attempt,
  served: AttemptWriter,
  exchange: Exchange,
  clock: Host["clock"],
) {
  return framesReadBy(exchange, buffer, (error) => {
    if (attempt.usage !== undefined) served.report(attempt.usage, attempt.usageSource);
    if (error === undefined) served.succeed(clock.now());
    else served.cut(asGatewayError(error), clock.now());
  });
}
