/** The form of a face: its request becomes one of the reference dialect, and replies go back. */

import type {
  ClientRequest,
  Exchange,
  Face,
  FaceContext,
  FaceError,
  FaceRequest,
  FaceStream,
  Frame,
  GatewayError,
  GatewayRequest,
  JsonDocument,
  JsonObject,
  JsonValue,
  MaybePromise,
  Sealer,
  WholeReply,
} from "@sluice/contract";
import { isObject, type Stages } from "@sluice/kit";
import {
  chunkWithBlocks,
  type FrameBatch,
  FrameRun,
  originalOf,
  replyWithBlocks,
  withPlainContents,
  writtenDocument,
} from "@sluice/kit/internals";
import type { ReplyOrigin } from "@sluice/runtime";
import { roughPromptTokens } from "@sluice/runtime/openai";
import type { Receive, ReceiveStages } from "../ingress/receive.ts";
import { DetachedForm } from "./detached.ts";
import { FacedRequest } from "./faced-request.ts";
import { KeptReplies } from "./kept-replies.ts";
import { CompletedRelayForm, completedWhole, type KeepReply, RelayForm } from "./relayed.ts";
import type { ReplyForm, StreamForm } from "./reply-form.ts";
import { Seals } from "./seals.ts";

const NO_NAMES: readonly string[] = Object.freeze([]);

/** What a form is made with. */
interface Started extends ReplyOrigin {
  readonly sealer: Sealer;
}

/** The form of one exchange at a route with a face. */
export class FacedForm implements ReplyForm {
  readonly heartbeat: string;
  readonly #face: Face;
  readonly #requestId: string;
  /** The request that the reply is made for. */
  #origin: ReplyOrigin;
  #dropped: readonly string[] = NO_NAMES;
  #state: unknown = undefined;
  #model = "";
  #exchange: Exchange | undefined;
  readonly #sealer: Sealer;
  #kept: KeptReplies | undefined;

  constructor(face: Face, started: Started) {
    this.heartbeat = face.heartbeat;
    this.#face = face;
    this.#requestId = started.id;
    this.#origin = started;
    this.#sealer = started.sealer;
  }

  get dropped(): readonly string[] {
    return this.#dropped;
  }

  /** Called before the first step. */
  serve(exchange: Exchange): void {
    this.#exchange = exchange;
    const { keeping } = this.#face;
    if (keeping !== undefined) this.#kept = new KeptReplies(keeping, exchange);
  }

  /** Whether the request may refer to kept replies. */
  get opensReferences(): boolean {
    return this.#kept?.isOn === true;
  }

  /** Puts what the request refers to in place. Rejects with `invalid_field` for what is missing. */
  open(document: JsonDocument): MaybePromise<JsonDocument> {
    return this.#kept?.open(document) ?? document;
  }

  /** The form of a reply without the client, after `read`; `undefined` where the client waits. */
  get detached(): DetachedForm | undefined {
    if (this.#kept?.isDetached !== true) return undefined;
    return new DetachedForm(this.#face, this.#kept, this.#state, this.#context);
  }

  /** The request in the reference dialect, read by `receive`. */
  read(document: JsonDocument, client: ClientRequest, receive: Receive): GatewayRequest {
    const asked = this.#asked(document, client);
    const read = this.#took(asked.read());
    return asked.withNative(receive(asked.bodyOf(read), client), read, this.#isKept);
  }

  /** The same of a large document. */
  *readInStages(
    document: JsonDocument,
    client: ClientRequest,
    receive: ReceiveStages,
  ): Stages.Of<GatewayRequest> {
    const asked = this.#asked(document, client);
    const read = this.#took(yield* asked.readInStages());
    yield;
    const request = yield* receive(asked.bodyOf(read), client);
    yield;
    return asked.withNative(request, read, this.#isKept);
  }

  #asked(document: JsonDocument, client: ClientRequest): FacedRequest {
    return new FacedRequest(this.#face, document, client, this.#seals.means(this.#kept?.opened));
  }

  /** Keeps what the reply is made with. */
  #took(read: FaceRequest): FaceRequest {
    const { model } = read.body;
    this.#state = read.state;
    this.#dropped = read.dropped ?? NO_NAMES;
    this.#model = typeof model === "string" ? model : "";
    return read;
  }

  /** Whether the client wants its reply kept. */
  get #isKept(): boolean {
    return this.#kept?.isWanted === true;
  }

  answersAs(origin: ReplyOrigin): void {
    this.#origin = origin;
  }

  whole(reply: WholeReply): MaybePromise<WholeReply> {
    const body = this.#face.whole(plainOf(reply), this.#state, this.#context);
    const kept = (reply.status === 200 ? this.#kept?.keep(body, this.#lost) : undefined) ?? body;
    return kept instanceof Promise
      ? kept.then((sent) => withBody(reply, sent))
      : withBody(reply, kept);
  }

  relayed(reply: WholeReply): MaybePromise<WholeReply> | undefined {
    const original = originalOf(reply.document);
    if (original?.dialect !== this.#face.dialect) return undefined;
    const relay = this.#face.relay?.(this.#state, this.#context);
    if (relay === undefined) return { ...reply, document: original.document };
    return completedWhole(reply, original.document, relay, this.#keep);
  }

  stream(relays: string | undefined): StreamForm {
    const isRelayed = relays === this.#face.dialect;
    const relay = isRelayed ? this.#face.relay?.(this.#state, this.#context) : undefined;
    if (relay !== undefined)
      return new CompletedRelayForm(relay, this.#isKept ? this.#keep : undefined);
    const writer = this.#face.stream(this.#state, this.#context);
    if (isRelayed) return new RelayForm(writer);
    const end = (): MaybePromise<string> => this.#kept?.end(writer, this.#lost) ?? writer.end();
    return writtenForm(writer, end);
  }

  error(error: GatewayError): FaceError {
    return this.#face.error(error, this.#requestId);
  }

  readonly #keep: KeepReply = (reply) => this.#kept?.keep(reply, this.#lost);

  /** The reply could not be kept. */
  readonly #lost = (): void => {
    this.#dropped = [...this.#dropped, "store"];
  };

  get #seals(): Seals {
    return new Seals(this.#sealer, this.#face.dialect, this.#exchange);
  }

  get #context(): FaceContext {
    const { id: requestId, startedAtMs } = this.#origin;
    const seals = this.#seals;
    return {
      requestId,
      model: this.#model,
      startedAtMs,
      seal: (text) => seals.seal(text),
      promptTokens: () => roughPromptTokens(this.#exchange?.request?.document.value ?? {}),
    };
  }
}

function plainOf({ document }: WholeReply): JsonObject {
  return withPlainContents(replyWithBlocks(document));
}

function withBody(reply: WholeReply, body: JsonObject): WholeReply {
  return { ...reply, document: writtenDocument(body) };
}

function writtenForm(writer: FaceStream, end: StreamForm["end"]): StreamForm {
  return {
    text: (batch) => textOf(batch, writer),
    isAscii: () => false,
    chunk: (chunk) => writer.chunk(chunk),
    end,
    failure: (error) => writer.failure(error),
    failureAlone: (error) => writer.failureAlone?.(error),
  };
}

/** The events of a batch. Runs whose chunks differ in their content go to the writer as texts. */
function textOf(batch: FrameBatch, writer: FaceStream): string {
  let text = "";
  for (const item of batch.items) {
    if (!(item instanceof FrameRun)) {
      text += chunkText(item, writer);
      continue;
    }
    const { first, pieces } = item;
    if (writer.texts === undefined || !item.showsOneText || !saysContent(first.chunk()))
      for (const frame of item.frames()) text += chunkText(frame, writer);
    else text += chunkText(first, writer) + writer.texts(pieces.slice(1));
  }
  return text;
}

function chunkText(frame: Frame, writer: FaceStream): string {
  return writer.chunk(withPlainContents(chunkWithBlocks(frame)));
}

/** Whether a content of the first choice, a text, is all that a chunk says. */
function saysContent({ choices, usage = null }: JsonObject): boolean {
  const [choice, another] = Array.isArray(choices) ? (choices as readonly JsonValue[]) : [];
  if (another !== undefined || usage !== null || !isObject(choice)) return false;
  const { index = 0, delta, finish_reason: finish = null, logprobs = null } = choice;
  if (index !== 0 || finish !== null || logprobs !== null || !isObject(delta)) return false;
  return (
    typeof delta.content === "string" &&
    Object.keys(delta).every((name) => name === "content" || name === "role")
  );
}

/** The form of a request that only counts its tokens. */
export class CountForm extends FacedForm {
  readonly #count: Face["count"];

  constructor(face: Face, started: Started) {
    super(face, started);
    this.#count = face.count?.bind(face);
  }

  override whole(reply: WholeReply): MaybePromise<WholeReply> {
    const { input_tokens: counted } = reply.document.value;
    if (this.#count === undefined || typeof counted !== "number") return reply;
    return withBody(reply, this.#count(counted));
  }
}
