/**
 * The description of a provider's own API: which native requests are inference, where they name a
 * model, how they are metered.
 */

import type { JsonDocument } from "./json.ts";

/** Methods of calls over HTTP. */
export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The source of a native reply's usage. `text`: reported, else counted from the request and the
 * reply's texts. `prompt`: reported, else counted from the request, for replies without text.
 * `reported`: reported, else unknown. `free`: the upstream bills nothing.
 */
export type NativeUsage = "text" | "prompt" | "reported" | "free";

/** One endpoint of a provider's API that runs a model. */
export interface NativeEndpoint {
  /** Absent: POST. */
  readonly method?: HttpMethod;
  /**
   * The path from the native root, without a leading slash: `v1/messages`,
   * `v1beta/models/{model}:generateContent`. `{model}` is a part of one segment, decoded; any other
   * `{name}` is one segment of letters, digits, `.`, `_`, `~` and `-`.
   */
  readonly path: string;
  /**
   * The place of the model name. `provider`: `Provider.nativeModel` finds it. `none`: the request
   * names no model.
   */
  readonly model: "body" | "path" | "provider" | "none";
  readonly usage: NativeUsage;
  /**
   * Whether the model of the path may hold encoded slashes, as the ARN of a Bedrock model does.
   * Absent: false.
   */
  readonly hasSlashes?: boolean;
}

/** A provider's own API. */
export interface NativeApi {
  /**
   * The path of the native root at the upstream's address, without slashes at its ends; empty for
   * the address itself.
   */
  readonly root: string;
  /**
   * The inference endpoints. Absent: the provider declares none, and POST is served at every path.
   */
  readonly endpoints?: readonly NativeEndpoint[];
  /**
   * Request headers of this API that are passed on, lower-case names, besides those of every API.
   */
  readonly requestHeaders?: readonly string[];
  /** Reply headers of this API that the client gets, lower-case names. */
  readonly replyHeaders?: readonly string[];
  /**
   * Reply headers that hold an address of the upstream. The gateway replaces it with its own, under
   * the provider's prefix.
   */
  readonly addressHeaders?: readonly string[];
}

/**
 * The part of a provider's API that clients may call: the inference endpoints, every path, or the
 * inference endpoints and these patterns.
 */
export type OpenEndpoints = "inference" | "all" | readonly string[];

/**
 * The objects of a provider's account that keys may name by id: none, all, or these ids. `*` at the
 * end of one stands for any rest.
 */
export type OpenObjects = "none" | "all" | readonly string[];

/** A part of a request that only the client's own dialect can say. */
export interface NativeOnly {
  /** The client's own path: `tools[2]`. */
  readonly path: string;
  /** What it is. Completes "The provider p cannot take …": `a tool of type web_search_20250305`. */
  readonly what: string;
}

/** How replies of a dialect are relayed to clients that speak it. Plain data. */
export interface NativeReplies {
  /**
   * Where a reply, or an event of a stream, may name the model: names of members, outermost first.
   * The client reads its own name of the model there; nothing else is changed.
   */
  readonly modelAt: readonly (readonly string[])[];
  /**
   * Where the last events of a stream alone have a text, in a dialect without an end mark: names of
   * members, outermost first. Each object of an array on the way counts. They are written when the
   * stream has ended and its rows are durable. A cut stream has its failure alone.
   */
  readonly lastHas?: readonly string[];
  /**
   * A word that every event has whose texts `FaceRelay.events` may change, behind the beginning of
   * the stream: no part of a text, but written by the dialect.
   */
  readonly edits?: string;
}

/** An item of the client's document with a text that a face has sealed for a deployment. */
export interface SealedItem {
  /** The place in the document's `input`. */
  readonly index: number;
  /** The text that was sealed. Absent: it cannot be opened. */
  readonly text?: string;
  /** The id of the target whose reply it was sealed for. */
  readonly deployment?: string;
}

/** The client's own document of a request that a face has translated. */
export interface NativeRequest {
  readonly dialect: string;
  /** Without the gateway's own members. */
  readonly document: JsonDocument;
  /** What was made of it. A step that edits the request replaces this one and not the original. */
  readonly translated: JsonDocument;
  /** Whether it holds marks of the gateway's own: no upstream gets it. */
  readonly holdsOwnMarks?: true;
  /** Parts that the reference dialect cannot say. */
  readonly only: readonly NativeOnly[];
  /** The deployments of `thoughts_of` in the translation. Absent: it has none. */
  readonly thoughtsOf?: readonly string[];
  /** Fields of the translation that a provider may leave out. */
  readonly hints: readonly string[];
  /** The client's headers of its dialect, lower-case names: `anthropic-beta`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Items with sealed texts. Absent: none. */
  readonly sealed?: readonly SealedItem[];
  /**
   * The further path of an endpoint of the dialect that has no form in the reference dialect:
   * `compact`. It is called natively or not at all. Absent: the endpoint of chat requests.
   */
  readonly endpoint?: string;
  /** Whether the reply is kept: the next request has what the upstream needs back of it. */
  readonly isKept?: true;
  /** Absent: replies are translated. */
  readonly replies?: NativeReplies;
}

/** A request in a dialect of the provider's own. */
export interface NativeDocument {
  readonly dialect: string;
  readonly document: JsonDocument;
  /** The client's headers of that dialect, lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Items with sealed texts. Absent: none. */
  readonly sealed?: readonly SealedItem[];
  /**
   * The further path of an endpoint of the dialect that has no form in the reference dialect:
   * `compact`. It is called natively or not at all. Absent: the endpoint of chat requests.
   */
  readonly endpoint?: string;
  /** Whether the reply is kept: the next request has what the upstream needs back of it. */
  readonly isKept?: true;
  /** Absent: replies are translated. */
  readonly replies?: NativeReplies;
}
