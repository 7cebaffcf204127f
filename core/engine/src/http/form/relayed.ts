/** A stream in the client's own dialect: the upstream's events as they came. */

import type {
  FaceRelay,
  FaceStream,
  GatewayError,
  JsonDocument,
  JsonObject,
  MaybePromise,
  WholeReply,
} from "@sluice/contract";
import { type FrameBatch, writtenDocument } from "@sluice/kit/internals";
import type { StreamForm } from "./reply-form.ts";

/** Characters that wait for the end of a stream. */
const MAX_END_CHARACTERS = 1_048_576;
/** The same where the last event has the whole reply. */
const MAX_REPLY_CHARACTERS = 64 * 1024 * 1024;

/** What the gateway itself writes into a relayed stream. */
type FailureWriter = Pick<FaceStream, "failure" | "failureAlone">;

/** The form of one relayed stream. The gateway adds nothing but the failure of a cut one. */
export class RelayForm implements StreamForm {
  readonly #writer: FailureWriter;
  readonly #maxEnd: number;
  #end = "";
  /** The last text holds an end, whose characters are not known. */
  #hasWrittenEnd = false;

  constructor(writer: FailureWriter, maxEnd = MAX_END_CHARACTERS) {
    this.#writer = writer;
    this.#maxEnd = maxEnd;
  }

  text({ relayed }: FrameBatch): string {
    if (relayed === undefined) return "";
    this.#end += relayed.end;
    this.#hasWrittenEnd = this.#end.length > this.#maxEnd;
    if (!this.#hasWrittenEnd) return relayed.text;
    // More than an end: it is written as it comes.
    const text = relayed.text + this.#end;
    this.#end = "";
    return text;
  }

  isAscii({ relayed }: FrameBatch): boolean {
    return !this.#hasWrittenEnd && relayed?.isAscii !== false;
  }

  /** What the gateway estimated stands in its rows alone: the events are the upstream's. */
  chunk(): string {
    return "";
  }

  end(): MaybePromise<string> {
    return this.#end;
  }

  failure(error: GatewayError): string {
    return this.#writer.failure(error);
  }

  failureAlone(error: GatewayError): string | undefined {
    return this.#writer.failureAlone?.(error);
  }
}

/** Keeps a reply, and returns it as the client gets it; `undefined` where none is kept. */
export type KeepReply = (reply: JsonObject) => MaybePromise<JsonObject> | undefined;

/** A relayed whole reply with what its upstream cannot know. */
export function completedWhole(
  reply: WholeReply,
  original: JsonDocument,
  relay: FaceRelay,
  keep: KeepReply,
): MaybePromise<WholeReply> {
  const written = (kept: JsonObject): WholeReply => {
    const shown = relay.shown(kept);
    return { ...reply, document: shown === original.value ? original : writtenDocument(shown) };
  };
  const whole = relay.reply(original.value);
  const kept = keep(whole) ?? whole;
  return kept instanceof Promise ? kept.then(written) : written(kept);
}

/** A relayed stream with what its upstream cannot know. */
export class CompletedRelayForm extends RelayForm {
  readonly #relay: FaceRelay;
  readonly #keep: KeepReply | undefined;
  /** The last text is not as the upstream wrote it: its characters are not known. */
  #isEdited = false;

  /** `keep`: absent where the reply is not kept. */
  constructor(relay: FaceRelay, keep: KeepReply | undefined) {
    super(relay, MAX_REPLY_CHARACTERS);
    this.#relay = relay;
    this.#keep = keep;
  }

  override text(batch: FrameBatch): string {
    const text = super.text(batch);
    const shown = text === "" ? text : this.#relay.events(text, this.#isBare(batch, text));
    this.#isEdited = shown !== text;
    return shown;
  }

  override isAscii(batch: FrameBatch): boolean {
    return !this.#isEdited && super.isAscii(batch);
  }

  override end(): MaybePromise<string> {
    const end = super.end() as string;
    const reply = this.#keep === undefined ? undefined : this.#relay.last(end);
    if (reply === undefined || this.#keep === undefined) return this.#relay.end(end);
    const kept = this.#keep(reply) ?? reply;
    return kept instanceof Promise
      ? kept.then((sent) => this.#relay.end(end, sent))
      : this.#relay.end(end, kept);
  }

  /** What is known of the events of a batch, unless those that waited for the end are with them. */
  #isBare({ relayed }: FrameBatch, text: string): boolean | undefined {
    return relayed?.text === text ? relayed.isBare : undefined;
  }
}
