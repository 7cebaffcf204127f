/**
 * Faces: the wire forms that clients speak. A face translates a client's requests into the
 * reference dialect, and replies, streams and errors back. Steps, guardrails, the cache and the
 * ledger see the reference dialect alone.
 */

import type { GatewayError } from "./error.ts";
import type { ClientRequest } from "./exchange.ts";
import type { JsonDocument, JsonObject } from "./json.ts";
import type { NativeOnly, NativeReplies, SealedItem } from "./native.ts";

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
  /**
   * The deployments whose sealed reasoning the request holds, by the ids of their targets, the
   * latest one last. A message of the body with such reasoning has the index of its deployment in
   * this list as `thoughts_of`. Absent: none.
   */
  readonly thoughtsOf?: readonly string[];
  /** Items of the client's document with sealed texts, for an upstream of the dialect. */
  readonly sealed?: readonly SealedItem[];
  /** The endpoint of the client's dialect, as of `NativeRequest`. Absent: that of chat requests. */
  readonly endpoint?: string;
}

/** A sealed text and its deployment. */
export interface Unsealed {
  readonly text: string;
  /** The id of the target whose reply the text was sealed for. */
  readonly deployment: string;
}

/** What a request is read with beside the document. */
export interface FaceMeans {
  /**
   * Opens what `seal` of a reply's context made for the same key. `undefined` for every other text.
   */
  open(sealed: string): Unsealed | undefined;
  /**
   * Members of the client's document that `keeping` has replaced by what they refer to. Absent:
   * none.
   */
  readonly replaced?: JsonObject;
  /** Items that `keeping` has put before the client's own. Absent: none. */
  readonly itemsBefore?: number;
}

/** What a reply is made with beside the reply itself. */
export interface FaceContext {
  /** The id of the request at the gateway, a UUID: ids of the reply are made from it. */
  readonly requestId: string;
  /** The model id that the client asked for. */
  readonly model: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /**
   * Seals a text for the deployment that answers and for the key of the request: base64url. Another
   * key cannot open it, and no deployment but that one gets it.
   */
  seal(text: string): string;
  /**
   * An estimate of the prompt's tokens, made when it is asked for: for a stream whose first event
   * has them before the upstream reports any. Absent: it is not known.
   */
  promptTokens?(): number;
}

/** Writes one stream. Every text is complete: events with their blank line. */
export interface FaceStream {
  /**
   * The events of one chunk `chat.completion.chunk`; empty when there is nothing to write yet. Its
   * contents are texts, as those of a whole reply.
   */
  chunk(chunk: JsonObject): string;
  /**
   * The events of chunks that differ from the last one in the `content` of the first choice alone:
   * their contents, in order, each as the inside of a JSON string. Absent: `chunk` gets each of
   * them. It is for speed, where events arrive together.
   */
  texts?(contents: readonly string[]): string;
  /**
   * The reply of a whole stream, in the form of `whole`, before `end`. `undefined` for one that
   * failed. Absent: replies of this face are not kept.
   */
  reply?(): JsonObject | undefined;
  /** The end of a whole stream: what is still open is closed. `reply`: as it was kept. */
  end(reply?: JsonObject): string;
  /** The end of a stream that failed. `chunk` and `end` are not called afterwards. */
  failure(error: GatewayError): string;
  /**
   * The same once more, for clients that know a failed stream by a piece of the network that holds
   * nothing else: it is written after `failure` and a pause. Absent: `failure` is the end.
   */
  failureAlone?(error: GatewayError): string;
}

/**
 * What a relayed reply has that its upstream cannot know: sealed texts, and what the gateway keeps.
 * Every other character stays.
 */
export interface FaceRelay {
  /** A reply as it is kept. The same object where nothing differs. */
  reply(original: JsonObject): JsonObject;
  /** A reply of `reply` as the client gets it. */
  shown(reply: JsonObject): JsonObject;
  /**
   * Whole events as the client gets them. They are not the last ones of the stream. `isBare`: none
   * of them has the word `edits` of `nativeReplies`. Absent: that is not known.
   */
  events(text: string, isBare?: boolean): string;
  /** The reply in the last events, in the form of `reply`; `undefined` without one. */
  last(end: string): JsonObject | undefined;
  /**
   * The last events as the client gets them. `reply`: that of `last`, as it was kept. Absent: it is
   * not kept.
   */
  end(end: string, reply?: JsonObject): string;
  /** The end of a stream that failed, behind the events that were written. */
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

/** A request whose references are replaced by what they refer to. */
export interface OpenedRequest {
  readonly document: JsonDocument;
  /** The members that were replaced, as the client sent them. */
  readonly replaced: JsonObject;
  /** Items that were put before the client's own. */
  readonly itemsBefore: number;
}

/** An entry that leads to another one. */
export interface KeptPointer {
  readonly id: string;
  readonly entry: JsonObject;
}

/** An entry, and the reply as the client gets it when the entry is kept. */
export interface KeptReply {
  readonly id: string;
  readonly entry: JsonObject;
  readonly reply: JsonObject;
  /** Entries that lead to this one. Absent: none. */
  readonly pointers?: readonly KeptPointer[];
}

/** The answer to a request for an entry. */
export interface KeptAnswer {
  readonly document: JsonObject;
  /** The entry is deleted before the client gets the answer. A reply under way is ended first. */
  readonly deletes?: true;
  /** A reply under way is ended, and the request answered again with its last entry. */
  readonly ends?: true;
  /** The client gets the events behind this number in place of the document. */
  readonly eventsAfter?: number;
}

/** Entries by their ids; `undefined` for one that is not there. */
export type KnownEntries = ReadonlyMap<string, JsonObject | undefined>;

/** Replies that are made and kept without their client. Pure functions. */
export interface FaceDetached {
  /** Whether the client asks for one. Throws `invalid_field` where another member excludes it. */
  isWanted(document: JsonDocument): boolean;
  /** Whether an entry is that of a reply which is being made. */
  isRunning(entry: JsonObject): boolean;
  /**
   * The last entry of a reply that was not made, from its first one. `client_closed`: the client
   * ended it.
   */
  ended(entry: JsonObject, error: GatewayError): JsonObject;
  /** Of whole events, those with a higher number. Comments are left out. */
  eventsAfter(text: string, number: number): string;
  /** The last event for a client that cannot get those behind `last`, which may be empty. */
  lostEvents(last: string, error: GatewayError): string;
}

/** How the replies of a face are kept. Pure functions. */
export interface FaceKeeping {
  /**
   * The ids of further entries that a request refers to. `known` has those that were looked up
   * already. Throws `invalid_field` for too many.
   */
  references(document: JsonDocument, known: KnownEntries): readonly string[];
  /**
   * The request with what it refers to in place. Throws `invalid_field` for a reference to what is
   * not there. `isDetached`: the reply is made without its client, which no upstream learns.
   */
  open(document: JsonDocument, known: KnownEntries, isDetached: boolean): OpenedRequest;
  /** Whether the client wants its reply kept. */
  wants(document: JsonDocument): boolean;
  /**
   * The entry of a reply in the client's form, or of what `begun` returns. `document`: the request
   * without references. `undefined` for a reply that is not kept.
   */
  entryOf(document: JsonDocument, reply: JsonObject): KeptReply | undefined;
  /** The id of the entry that a request for one names; `undefined` for what is no id. */
  idOf(client: ClientRequest): string | undefined;
  /** Answers a request for an entry. Throws `invalid_field` for what cannot be asked of it. */
  answer(client: ClientRequest, entry: JsonObject): KeptAnswer;
  /** Replies without their client. Absent: there are none. */
  readonly detached?: FaceDetached;
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
  read(document: JsonDocument, client: ClientRequest, means: FaceMeans): FaceRequest<State>;
  /**
   * The same in stages of some milliseconds: it yields where other requests may be served. Absent:
   * `read` is one stage.
   */
  readInStages?(
    document: JsonDocument,
    client: ClientRequest,
    means: FaceMeans,
  ): Generator<void, FaceRequest<State>, undefined>;
  /** The reply of a `chat.completion` object. Its contents are texts or null: no list of blocks. */
  whole(reply: JsonObject, state: State, context: FaceContext): JsonObject;
  /** A writer of one stream. */
  stream(state: State, context: FaceContext): FaceStream;
  /** A reply before its first call, for a client that does not wait. Absent: every client waits. */
  begun?(state: State, context: FaceContext): JsonObject;
  /** What relayed replies get of the gateway. Absent: nothing. */
  relay?(state: State, context: FaceContext): FaceRelay;
  /** An error reply. */
  error(error: GatewayError, requestId: string): FaceError;
  /** The reply to a request that only counts its tokens. Absent: the face has no such request. */
  count?(inputTokens: number): JsonObject;
  readonly models?: FaceModels;
  /** How replies are kept for later requests. Absent: they are not. */
  readonly keeping?: FaceKeeping;
}
