/** Replies: the results of exchanges. */

import type { Frame } from "./frame.ts";
import type { JsonDocument } from "./json.ts";

/** A reply in one piece. */
export interface WholeReply {
  readonly kind: "whole";
  readonly status: number;
  readonly document: JsonDocument;
}

/**
 * A streamed reply. The owner must iterate it or call its `return`: clean-up happens in `finally`.
 * It is primed: its first content frame has arrived, so a failure before content was thrown as an
 * error.
 */
export interface StreamReply {
  readonly kind: "stream";
  readonly status: number;
  readonly frames: AsyncIterable<Frame>;
}

/** Bytes that the gateway relays without reading. */
export interface BytesReply {
  readonly kind: "bytes";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

export type Reply = WholeReply | StreamReply | BytesReply;
