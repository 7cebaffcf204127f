/**
 * Faces: the wire forms that clients speak. A face translates a client's requests into the
 * reference dialect, and replies, streams and errors back. Steps, guardrails, the cache and the
 * ledger see the reference dialect alone.
 */

import type { GatewayError } from "./error.ts";
import type { ClientRequest } from "./exchange.ts";
import type { JsonDocument, JsonObject } from "./json.ts";
import type { NativeOnly, NativeReplies } from "./native.ts";

/** What `read` makes of a client's request. */
export interface FaceRequest<State = unknown> {
  /** The members of the request in the reference dialect, `model` and `stream` among them. */
  readonly body: JsonObject;
  /** What writing the reply needs of the request: names of tools, fields to repeat. Plain data. */
  readonly state: State;
  /** Fields that were left out without harm, by their paths. The reply lists them in a header. */
  readonly dropped?: readonly string[];
  /**
   * Parts without a form in the reference dialect. A provider of the client's own dialect gets them
   * in the client's document; for another provider the request is refused with the first path. The
   * body holds parameters, blocks and tools among them in the client's form: translators refuse
   * them too. Absent: none.
   */
  readonly nativeOnly?: readonly NativeOnly[];
  /**
   * The client's document holds marks that this face wrote into an earlier reply, and that only it
   * understands: a provider of the dialect gets the translation.
   */
  readonly holdsOwnMarks?: true;
}

/** What a reply is made with beside the reply itself. */
export interface FaceContext {
  /** The id of the request at the gateway, a UUID: ids of the reply are made from it. */
  readonly requestId: string;
  /** The model id that the client asked for. */
  readonly model: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
}

/** Writes one stream. Every text is complete: events with their blank line. */
export interface FaceStream {
  /** The events of one chunk `chat.completion.chunk`; empty when there is nothing to write yet. */
  chunk(chunk: JsonObject): string;
  /**
   * The events of chunks that differ from the last one in the `content` of the first choice alone:
   * their contents, in order, each as the inside of a JSON string. Absent: `chunk` gets each of
   * them. It is for speed, where events arrive together.
   */
  texts?(contents: readonly string[]): string;
  /** The end of a whole stream: what is still open is closed. */
  end(): string;
  /** The end of a stream that failed. `chunk` and `end` are not called afterwards. */
  failure(error: GatewayError): string;
}

/** An error before the first byte of a reply. */
export interface FaceError {
  readonly status: number;
  readonly body: JsonObject;
  /** Further headers, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The list of models in a client's form. */
export interface FaceModels {
  /** Whether a request at a path that several faces share, `GET /v1/models`, means this one. */
  isAsked(client: ClientRequest): boolean;
  /** The list, made of the reference dialect's `{object: "list", data}`. */
  list(reply: JsonObject, client: ClientRequest): JsonObject;
  /** One model, made of an entry of that list. */
  one(entry: JsonObject): JsonObject;
}

/** A running face: pure functions. */
export interface Face<State = unknown> {
  /**
   * The client's dialect. A provider that lists it in `dialects` gets the client's own document.
   */
  readonly dialect: string;
  /** Request headers that may hold the key besides `authorization`, lower-case names. */
  readonly keyHeaders?: readonly string[];
  /**
   * Fields of its translations that its clients send to every model: a provider that cannot honour
   * one leaves it out with a notice, where it would refuse a client of the reference dialect.
   */
  readonly hints?: readonly string[];
  /**
   * Whether clients know a failed stream by a piece of the network that holds nothing but the
   * failure: a pause stands before it then.
   */
  readonly failsAlone?: true;
  /**
   * Headers of the dialect that a provider of it gets with the client's document; lower-case names.
   */
  readonly nativeHeaders?: readonly string[];
  /** How replies of upstreams of the dialect are relayed. Absent: they are translated. */
  readonly nativeReplies?: NativeReplies;
  /** The text that a stream writes in silence: a comment or an event. */
  readonly heartbeat: string;
  /**
   * Translates a request. Throws `invalid_field` with the client's own path in `param` for what is
   * missing, of a wrong type, or cannot be said in the reference dialect.
   */
  read(document: JsonDocument, client: ClientRequest): FaceRequest<State>;
  /** The reply of a `chat.completion` object. */
  whole(reply: JsonObject, state: State, context: FaceContext): JsonObject;
  /** A writer of one stream. */
  stream(state: State, context: FaceContext): FaceStream;
  /** An error reply. */
  error(error: GatewayError, requestId: string): FaceError;
  /** The reply to a request that only counts its tokens. Absent: the face has no such request. */
  count?(inputTokens: number): JsonObject;
  readonly models?: FaceModels;
}
