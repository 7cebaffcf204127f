/**
 * The form in which one exchange is answered: that of the reference dialect, or of a face. The
 * egress writes what the form says and knows no dialect.
 */

import type {
  FaceError,
  GatewayError,
  JsonObject,
  MaybePromise,
  WholeReply,
} from "@sluice/contract";
import type { ReplyOrigin } from "@sluice/runtime";
import type { FrameBatch } from "@sluice/kit/internals";

/** An error before the first byte. */
export interface ErrorReply extends Omit<FaceError, "body"> {
  /** What JSON says of it is the body. */
  readonly body: object;
}

/** The form of the replies to one request. */
export interface ReplyForm {
  /** What a stream writes in silence. */
  readonly heartbeat: string;
  /** Fields of the request that were left out without harm. */
  readonly dropped: readonly string[];
  /**
   * Makes the reply as that of another request: with its id and its time. Called before `whole` and
   * `stream`.
   */
  answersAs?(origin: ReplyOrigin): void;
  /** Asked before the headers of the reply: `dropped` may grow. */
  whole(reply: WholeReply): MaybePromise<WholeReply>;
  /** The reply as its upstream wrote it in the client's dialect; `undefined` for any other one. */
  relayed?(reply: WholeReply): MaybePromise<WholeReply> | undefined;
  /**
   * The form of a stream. One is asked for each stream that is written. `relays`: the dialect of
   * the texts that its batches relay, where no step reads its frames.
   */
  stream(relays: string | undefined): StreamForm;
  error(error: GatewayError): ErrorReply;
}

/** The form of one stream. Every text is complete: events with their blank line. */
export interface StreamForm {
  text(batch: FrameBatch): string;
  /** Whether the text of a batch is ASCII; `false` where that is not known. */
  isAscii(batch: FrameBatch): boolean;
  /** A chunk that the gateway adds. */
  chunk(chunk: JsonObject): string;
  /** The end of a whole stream: it may wait until the reply is kept. */
  end(): MaybePromise<string>;
  failure(error: GatewayError): string;
  /** The same once more: in a piece of its own. `undefined`: there is none. */
  failureAlone(error: GatewayError): string | undefined;
}
