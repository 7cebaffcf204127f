/** Replies: what an exchange is answered with. */

import type { Frame } from "./frame.ts";
import type { JsonDocument } from "./json.ts";

/** A reply in one piece. */
export interface WholeReply {
  readonly kind: "whole";
  readonly status: number;
  readonly document: JsonDocument;
}

/**
 * A streamed reply. Whoever holds it must iterate it or call its `return`: clean-up happens in `finally`. It is primed:
 * its first content frame has arrived, so that a failure before content was still a thrown error.
 */
export interface StreamReply {
  readonly kind: "stream";
  readonly status: number;
  readonly frames: AsyncIterable<Frame>;
}

/** Bytes that are nobody's business but the upstream's and the client's. */
export interface BytesReply {
  readonly kind: "bytes";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

export type Reply = WholeReply | StreamReply | BytesReply;
