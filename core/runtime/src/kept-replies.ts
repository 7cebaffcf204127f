/** Slots between the step that keeps replies of a face and the engine that writes them. */

import type { FaceKeeping, JsonObject, MaybePromise } from "@sluice/contract";
import { defineSlot } from "@sluice/kit";

/** Stores the replies of one exchange for its key. */
export interface ReplyKeeper {
  /** The entries of the key with these ids. What is not there is absent. */
  find(ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>>;
  /** Stores an entry. Returns whether it is stored. Never throws or rejects. */
  keep(id: string, entry: JsonObject): MaybePromise<boolean>;
}

/** Set by a step before the body is read. Absent: this exchange keeps nothing and finds nothing. */
export const KEEPER = defineSlot<ReplyKeeper>("keeper of replies", { inShadow: () => undefined });

/** How the face of the route keeps replies. Set by the engine where clients ask for kept ones. */
export const KEEPING = defineSlot<FaceKeeping>("how the face keeps replies");
