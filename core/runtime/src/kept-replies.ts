/** Slots between the step that keeps replies of a face and the engine that writes them. */

import type { FaceDetached, FaceKeeping, JsonObject, MaybePromise } from "@sluice/contract";
import { defineSlot } from "@sluice/kit";

/** A reply that is about to be made without its client. */
export interface DetachedReply {
  readonly id: string;
  /** Its entry until it ends. */
  readonly entry: JsonObject;
  /** Whether it is a stream, whose events are kept. */
  readonly hasEvents: boolean;
  readonly face: FaceDetached;
  /** Ends it: the client asked for that. */
  cancel(): void;
}

/** A reply that is made without its client. */
export interface DetachedRun {
  /** Keeps whole events. A promise where the caller has to wait for room. */
  append(events: string): MaybePromise<void>;
  /** The events from the first on, as they come, with heartbeats. `signal` ends the reading. */
  events(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Ends it, after its last entry was kept. Never rejects. */
  end(): Promise<void>;
}

/** Stores the replies of one exchange for its key. */
export interface ReplyKeeper {
  /** The entries of the key with these ids. What is not there is absent. */
  find(ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>>;
  /** Stores an entry. Returns whether it is stored. Never throws or rejects. */
  keep(id: string, entry: JsonObject): MaybePromise<boolean>;
  /**
   * Begins a reply without its client, and keeps its first entry. Rejects with `rate_limited` or
   * `overloaded` where no more of them may run, with `invalid_field` for an entry that cannot be
   * kept. Absent: none may run.
   */
  begin?(reply: DetachedReply): Promise<DetachedRun>;
}

/** Set by a step before the body is read. Absent: this exchange keeps nothing and finds nothing. */
export const KEEPER = defineSlot<ReplyKeeper>("keeper of replies", { inShadow: () => undefined });

/** How the face of the route keeps replies. Set by the engine where clients ask for kept ones. */
export const KEEPING = defineSlot<FaceKeeping>("how the face keeps replies");
