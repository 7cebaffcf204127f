/** The form of a reply that is made without its client. */

import type { Face, FaceContext, FaceDetached, GatewayError, KeptReply } from "@sluice/contract";
import type { KeptReplies } from "./kept-replies.ts";

/** A reply before its first call, and how it is kept. */
export interface BegunReply {
  readonly kept: KeptReply;
  readonly face: FaceDetached;
}

/** The form of one reply. */
export class DetachedForm {
  readonly #face: Face;
  readonly #kept: KeptReplies | undefined;
  readonly #state: unknown;
  readonly #context: FaceContext;

  constructor(face: Face, kept: KeptReplies | undefined, state: unknown, context: FaceContext) {
    this.#face = face;
    this.#kept = kept;
    this.#state = state;
    this.#context = context;
  }

  /** The reply before its first call; `undefined` where the face keeps none. */
  begun(): BegunReply | undefined {
    const reply = this.#face.begun?.(this.#state, this.#context);
    const kept = reply === undefined ? undefined : this.#kept?.entryOf(reply);
    const face = this.#face.keeping?.detached;
    return kept === undefined || face === undefined ? undefined : { kept, face };
  }

  /** The end of a stream that has none. `last`: the events that were written last; may be empty. */
  lastEvents(last: string, error: GatewayError): string {
    return last === ""
      ? this.#face.stream(this.#state, this.#context).failure(error)
      : (this.#face.keeping?.detached?.lostEvents(last, error) ?? "");
  }
}
