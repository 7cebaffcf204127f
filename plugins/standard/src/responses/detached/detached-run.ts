/** Begins responses in the background, and ends them. */

import {
  GatewayError,
  type Identity,
  type Log,
  type MaybePromise,
  type Reservation,
} from "@sluice/contract";
import type { DetachedReply, DetachedRun } from "@sluice/runtime";
import type { ResponseStore, StoreLimits } from "../store.ts";
import { keepChunk } from "./chunks.ts";
import { EventLog } from "./event-log.ts";
import { readEvents } from "./read-events.ts";
import type { Run, RunLimits, Runs } from "./runs.ts";

/** The bounds of responses in the background and of what is stored of them. */
export interface DetachedLimits extends StoreLimits, RunLimits {
  /** Of the events of one response, as they are stored. */
  readonly maxEventBytes: number;
}

/** What responses in the background share. */
export interface DetachedParts {
  readonly store: ResponseStore;
  readonly runs: Runs<KeptRun>;
  readonly limits: DetachedLimits;
  readonly log: Log;
}

/**
 * Begins a response: takes a place and stores its first entry. Rejects with `rate_limited`,
 * `overloaded` or `invalid_field`.
 */
export async function beginRun(
  parts: DetachedParts,
  identity: Identity,
  reply: DetachedReply,
): Promise<DetachedRun> {
  const { runs, store, limits } = parts;
  const { keyId } = identity;
  const reservation = await runs.take(identity, reply.id, limits);
  const result = await store.keep(keyId, reply.id, reply.entry, limits);
  if (result === "stored") {
    const run = new KeptRun(parts, identity, reply, reservation);
    runs.add(run);
    return run;
  }
  await runs.release(identity, reservation);
  if (result === "too large")
    throw new GatewayError(
      "invalid_field",
      "background needs a stored response, and the conversation is larger than max_entry of the step responses. Use stream.",
      { param: "background" },
    );
  throw new GatewayError(
    "overloaded",
    "background needs a stored response, and the shared state does not take it now. Retry.",
  );
}

/** A response that this process makes. */
export class KeptRun implements Run, DetachedRun {
  readonly keyId: string;
  readonly responseId: string;
  readonly reservation: Reservation;
  /** Absent: its client asked for no stream. */
  readonly log: EventLog | undefined;
  readonly #identity: Identity;
  readonly #parts: DetachedParts;
  readonly #reply: DetachedReply;
  readonly #ended = Promise.withResolvers<void>();
  #isEnding = false;

  constructor(
    parts: DetachedParts,
    identity: Identity,
    reply: DetachedReply,
    reservation: Reservation,
  ) {
    const { store, limits } = parts;
    const { keyId } = identity;
    this.keyId = keyId;
    this.#identity = identity;
    this.responseId = reply.id;
    this.reservation = reservation;
    this.#parts = parts;
    this.#reply = reply;
    if (reply.hasEvents)
      this.log = new EventLog(
        (index, bytes) => keepChunk(store, keyId, reply.id, index, bytes, limits),
        limits.maxEventBytes,
      );
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  cancel(): void {
    if (!this.#isEnding) this.#reply.cancel();
  }

  append(events: string): MaybePromise<void> {
    return this.log?.append(events);
  }

  events(signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { keyId, responseId, log } = this;
    const { store, runs } = this.#parts;
    const { face } = this.#reply;
    const isRunning = (): Promise<boolean> => runs.isRunning(keyId, responseId);
    return readEvents({ store, keyId, responseId, log, face, isRunning, signal }, -1);
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    try {
      await this.log?.end();
      await this.#parts.runs.release(this.#identity, this.reservation);
    } catch (error) {
      this.#parts.log.warn("a response in the background could not be ended", { error });
    } finally {
      this.#parts.runs.remove(this);
      this.#ended.resolve();
    }
  }
}
