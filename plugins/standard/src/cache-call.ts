/** A call that identical requests share: the reply of a twin under way, or a call of one's own that others may join. */

import { branchOf, unlessAborted } from "@sluice/kit";
import {
  type Attempt,
  type Exchange,
  GatewayError,
  type GatewayRequest,
  type Host,
  type Next,
  type Reply,
  type Soon,
  type StateCache,
  type StepContext,
  type Usage,
  type WholeReply,
} from "@sluice/spec";
import type { CacheOptions } from "./cache-config.ts";
import { decodeEntry, type Entry } from "./cache-entry.ts";
import { type Flight, type Flights, isOwnFailure, type Landing } from "./cache-flight.ts";
import type { CacheKeys } from "./cache-key.ts";
import { Tape } from "./cache-tape.ts";
import type { CacheWish } from "./cache-wish.ts";
import { wholeAttempt } from "./joined-usage.ts";

/** Says `hit`, `miss` or `bypass`. */
export const CACHE_HEADER = "x-sluice-cache";

/** What one step works with. */
export interface CacheParts {
  readonly host: Host;
  readonly options: CacheOptions;
  readonly keys: CacheKeys;
  readonly flights: Flights;
}

/** The entry of a key, when there is one and it is young enough. A cache that fails has none. Never throws or rejects. */
export function findEntry(cache: StateCache, key: string, wish: CacheWish, host: Host): Soon<Entry | undefined> {
  const unread = (error: unknown): undefined => {
    host.log.warn("the cache could not be read", { error });
  };
  try {
    const found = cache.get(key);
    return found instanceof Promise
      ? found.then((bytes) => youngEntry(bytes, wish, host), unread)
      : youngEntry(found, wish, host);
  } catch (error) {
    return unread(error);
  }
}

function youngEntry(bytes: Uint8Array | undefined, { maxAgeMs }: CacheWish, { clock }: Host): Entry | undefined {
  const entry = bytes === undefined ? undefined : decodeEntry(bytes);
  return entry !== undefined && clock.now() - entry.head.storedAtMs <= maxAgeMs ? entry : undefined;
}

/** A call that twins may share. */
export interface SharedCall {
  readonly ctx: StepContext;
  readonly next: Next;
  readonly wish: CacheWish;
  readonly parts: CacheParts;
  /** What twins find each other by. */
  readonly key: string;
  /** What the inner steps are asked. */
  readonly ask: GatewayRequest;
  /** Completes a reply before anybody gets it. */
  readonly complete?: (reply: WholeReply, attempt: Attempt) => WholeReply;
  /** Keeps what the call came to. Runs when the exchange is over. */
  readonly store: (landing: Landing) => Promise<void> | undefined;
}

/** Joins a twin under way, or makes the call. */
export function runShared(call: SharedCall): Promise<void> {
  const { wish, parts, key } = call;
  if (!parts.options.collapse || !wish.stores) return lead(call, false);
  const twin = parts.flights.find(key);
  if (twin === undefined) return lead(call, true);
  return wish.reads ? joinOrLead(call, twin) : lead(call, false);
}

/** A twin that fails for reasons of its own makes one of those who waited the next to call. */
async function joinOrLead(call: SharedCall, twin: Flight): Promise<void> {
  const { parts, key, ctx } = call;
  for (let flight: Flight | undefined = twin; flight !== undefined; flight = parts.flights.find(key)) {
    const end = await join(flight, ctx.exchange, parts.host);
    if (end === "served") return;
    if (end === "withheld") return lead(call, false);
  }
  await lead(call, true);
}

/** Makes the call under a signal that outlives the client as long as somebody else waits. */
async function lead({ ctx, next, parts, key, ask, complete, store }: SharedCall, isShared: boolean): Promise<void> {
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
    const landing = landingOf(exchange.reply, attempt, options.maxEntryBytes, complete);
    if (landing === undefined) {
      flight.fail(new GatewayError("overloaded", "Nothing came of the call that others could share."));
      flights.remove(key, flight);
      return;
    }
    const listener = landing.kind === "stream" ? landing.tape.join() : undefined;
    flight.land(landing);
    exchange.onSettle(() =>
      settle(
        () => store(landing),
        () => flights.remove(key, flight),
        host,
      ),
    );
    if (landing.kind === "whole") {
      exchange.reply = landing.reply;
    } else if (listener !== undefined) {
      const { tape } = landing;
      const frames = tape.read(listener, {
        wantsUsage: request?.includeUsage === true,
        signal: exchange.signal,
        // The call is this exchange's to pay: it is over when the last reader has its end.
        onEnd: () => tape.ended,
      });
      exchange.reply = { kind: "stream", status: 200, frames };
    }
  } catch (error) {
    flight.fail(error);
    flights.remove(key, flight);
    throw error;
  }
}

/** What a reply is to twins; `undefined` for one that no call made, or that is of no kind they could share. */
function landingOf(
  reply: Reply | undefined,
  attempt: Attempt | undefined,
  maxCharacters: number,
  complete: SharedCall["complete"],
): Landing | undefined {
  if (attempt === undefined) return undefined;
  if (reply?.kind === "whole") return { kind: "whole", reply: complete?.(reply, attempt) ?? reply, attempt };
  return reply?.kind === "stream" ? { kind: "stream", tape: new Tape(reply.frames, maxCharacters), attempt } : undefined;
}

/** Behind the reply: twins find the flight until the entry is there. */
function settle(store: () => Promise<void> | undefined, close: () => void, { log }: Host): void {
  const lost = (error: unknown): void => log.warn("a reply could not be kept in the cache", { error });
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
 * Waits for a twin's reply. `gone`: there is none, as the twin failed for reasons of its own. `withheld`: a model answered that
 * this key may not use.
 */
async function join(flight: Flight, exchange: Exchange, host: Host): Promise<"served" | "gone" | "withheld"> {
  const { clock } = host;
  flight.join();
  let landing: Landing;
  try {
    landing = await unlessAborted(flight.landing, exchange.signal);
  } catch (error) {
    flight.leave(error);
    if (exchange.signal.aborted || !isOwnFailure(error)) throw error;
    return "gone";
  }
  const { attempt } = landing;
  if (!mayHave(exchange, attempt, host)) return "withheld";
  const usage = sumOf(exchange.served?.usage, attempt.usage);
  const served = {
    ...attempt,
    usage,
    number: 0,
    startedAtMs: exchange.startedAtMs,
    firstContentAtMs: clock.now(),
    // What cut the leader's own reply is not what this one gets.
    error: undefined,
    replyTexts: undefined,
  };
  if (landing.kind === "whole") {
    exchange.served = { ...served, outcome: "success" };
    exchange.reply = landing.reply;
  } else {
    if (!landing.tape.isOpen) return "gone";
    exchange.served = { ...served, outcome: undefined };
    exchange.reply = { kind: "stream", status: 200, frames: readAlong(landing.tape, attempt, exchange, clock) };
  }
  exchange.headers.set(CACHE_HEADER, "hit");
  exchange.note("cache", "shared the call of an identical request");
  return "served";
}

/** Whether a reply is by the model that was asked for, or by a stand-in that this key may use as well. */
function mayHave({ identity, model }: Exchange, { model: answerer }: Attempt, { authority }: Host): boolean {
  if (answerer === undefined || answerer.id === model?.id) return true;
  return identity !== undefined && authority.mayUse(identity, answerer);
}

/** The tokens that were kept and those of the call, where a reply is made of both. */
function sumOf(kept: Usage | undefined, called: Usage | undefined): Usage | undefined {
  if (kept === undefined || called === undefined) return called;
  const promptTokens = kept.promptTokens + called.promptTokens;
  return { promptTokens, completionTokens: 0, totalTokens: promptTokens };
}

/** A twin's stream. The record of what was served is filled in at its end. */
function readAlong(tape: Tape, attempt: Attempt, exchange: Exchange, clock: Host["clock"]) {
  const { served } = exchange;
  return tape.read(tape.join(), {
    wantsUsage: exchange.request?.includeUsage === true,
    signal: exchange.signal,
    onEnd(error) {
      if (served === undefined) return;
      served.endedAtMs = clock.now();
      served.outcome = error === undefined && served.error === undefined ? "success" : "partial";
      if (error instanceof GatewayError) served.error ??= error;
      served.usage = attempt.usage;
      served.usageSource = attempt.usageSource;
    },
  });
}
