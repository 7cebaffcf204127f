/** The form of a face: its request becomes one of the reference dialect, and replies go back. */

import type {
  ClientRequest,
  Exchange,
  Face,
  FaceContext,
  FaceError,
  FaceMeans,
  FaceRequest,
  FaceStream,
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
import { type FrameBatch, FrameRun, originalOf, writtenDocument } from "@sluice/kit/internals";
import type { ReplyOrigin } from "@sluice/runtime";
import { isGatewayOnly } from "@sluice/runtime/dialect";
import { roughPromptTokens } from "@sluice/runtime/openai";
import { DetachedForm } from "./detached.ts";
import { KeptReplies } from "./kept-replies.ts";
import { nativeRequest } from "./native-request.ts";
import { CompletedRelayForm, completedWhole, type KeepReply, RelayForm } from "./relayed.ts";
import type { ReplyForm, StreamForm } from "./reply-form.ts";
import { Seals } from "./seals.ts";

const NO_NAMES: readonly string[] = Object.freeze([]);

/** Reads a checked document of the reference dialect, at once and in stages. */
type Receive = (document: JsonDocument, client: ClientRequest) => GatewayRequest;
type ReceiveStages = (document: JsonDocument, client: ClientRequest) => Stages.Of<GatewayRequest>;

/** A request as the face reads it. */
interface Asked extends Divided {
  readonly means: FaceMeans;
}

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

  /**
   * The request in the reference dialect, read by `receive`. The gateway's own members stay at the
   * top level: they are the same in every dialect.
   */
  read(document: JsonDocument, client: ClientRequest, receive: Receive): GatewayRequest {
    const asked = this.#asked(document);
    const read = this.#took(this.#face.read(asked.bare, client, asked.means));
    const request = receive(bodyOf(read, asked), client);
    return this.#withNative(request, read, asked, client);
  }

  /** The same of a large document. */
  *readInStages(
    document: JsonDocument,
    client: ClientRequest,
    receive: ReceiveStages,
  ): Stages.Of<GatewayRequest> {
    const asked = this.#asked(document);
    const face = this.#face;
    const read = this.#took(
      face.readInStages === undefined
        ? face.read(asked.bare, client, asked.means)
        : yield* face.readInStages(asked.bare, client, asked.means),
    );
    yield;
    const request = yield* receive(bodyOf(read, asked), client);
    yield;
    return this.#withNative(request, read, asked, client);
  }

  #asked(document: JsonDocument): Asked {
    return { ...split(document), means: this.#seals.means(this.#kept?.opened) };
  }

  /** Keeps what the reply is made with. */
  #took(read: FaceRequest): FaceRequest {
    const { body, state, dropped = NO_NAMES } = read;
    this.#state = state;
    this.#dropped = dropped;
    this.#model = typeof body.model === "string" ? body.model : "";
    return read;
  }

  #withNative(
    request: GatewayRequest,
    read: FaceRequest,
    { bare }: Asked,
    client: ClientRequest,
  ): GatewayRequest {
    const isKept = this.#kept?.isWanted === true;
    const native = nativeRequest(this.#face, read, {
      document: bare,
      translated: request.document,
      client,
      isKept,
    });
    return { ...request, native };
  }

  answersAs(origin: ReplyOrigin): void {
    this.#origin = origin;
  }

  whole(reply: WholeReply): MaybePromise<WholeReply> {
    const body = this.#face.whole(reply.document.value, this.#state, this.#context);
    const kept = (reply.status === 200 ? this.#kept?.keep(body, this.#lost) : undefined) ?? body;
    const written = (sent: JsonObject): WholeReply => ({
      ...reply,
      document: writtenDocument(sent),
    });
    return kept instanceof Promise ? kept.then(written) : written(kept);
  }

  relayed(reply: WholeReply): MaybePromise<WholeReply> | undefined {
    const original = originalOf(reply.document);
    if (original?.dialect !== this.#face.dialect) return undefined;
    const relay = this.#face.relay?.(this.#state, this.#context);
    if (relay === undefined) return { ...reply, document: original.document };
    return completedWhole(reply, original.document, relay, this.#keep);
  }

  stream(relays: string | undefined): StreamForm {
    const failsAlone = this.#face.failsAlone === true;
    const isRelayed = relays === this.#face.dialect;
    const relay = isRelayed ? this.#face.relay?.(this.#state, this.#context) : undefined;
    if (relay !== undefined) {
      const isKept = this.#kept?.isWanted === true;
      return new CompletedRelayForm(relay, failsAlone, isKept ? this.#keep : undefined);
    }
    const writer = this.#face.stream(this.#state, this.#context);
    if (isRelayed) return new RelayForm(writer, failsAlone);
    return {
      text: (batch) => textOf(batch, writer),
      failsAlone,
      isAscii: () => false,
      chunk: (chunk: JsonObject) => writer.chunk(chunk),
      end: () => this.#kept?.end(writer, this.#lost) ?? writer.end(),
      failure: (error) => writer.failure(error),
    };
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

/** A document without the gateway's own members, and these. */
interface Divided {
  readonly bare: JsonDocument;
  /** `undefined` where there are none. */
  readonly gateways: JsonObject | undefined;
}

function split(document: JsonDocument): Divided {
  const own = Object.keys(document.value).filter((name) => isGatewayOnly(name));
  if (own.length === 0) return { bare: document, gateways: undefined };
  return {
    bare: document.with(Object.fromEntries(own.map((name) => [name, undefined]))),
    gateways: Object.fromEntries(own.map((name) => [name, document.value[name]])),
  };
}

/** The body of a request in the reference dialect. */
function bodyOf({ body }: FaceRequest, { gateways }: Divided): JsonDocument {
  return writtenDocument(gateways === undefined ? body : { ...body, ...gateways });
}

/** The events of a batch. Runs whose chunks differ in their content go to the writer as texts. */
function textOf(batch: FrameBatch, writer: FaceStream): string {
  let text = "";
  for (const item of batch.items) {
    if (!(item instanceof FrameRun)) {
      text += writer.chunk(item.chunk());
      continue;
    }
    const { first, pieces } = item;
    if (writer.texts === undefined || !item.showsOneText || !saysContent(first.chunk()))
      for (const frame of item.frames()) text += writer.chunk(frame.chunk());
    else text += writer.chunk(first.chunk()) + writer.texts(pieces.slice(1));
  }
  return text;
}

/** Whether a content of the first choice is all that a chunk says. */
function saysContent({ choices, usage = null }: JsonObject): boolean {
  const [choice, another] = Array.isArray(choices) ? (choices as readonly JsonValue[]) : [];
  if (another !== undefined || usage !== null || !isObject(choice)) return false;
  const { index = 0, delta, finish_reason: finish = null, logprobs = null } = choice;
  if (index !== 0 || finish !== null || logprobs !== null || !isObject(delta)) return false;
  return Object.keys(delta).every((name) => name === "content" || name === "role");
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
    return { ...reply, document: writtenDocument(this.#count(counted)) };
  }
}
