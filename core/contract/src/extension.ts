/**
 * Extensions: what a plugin adds at the edge of the gateway, for clients and scripts that come from
 * another product. It reads their fields and headers, writes headers for them, and serves their
 * paths. Every power that it has is one of its caller: what it reads is read as if the client had
 * said it in the gateway's own words, and what its routes do they do as their caller.
 */

import type { GatewayError } from "./error.ts";
import type { ClientRequest, Exchange } from "./exchange.ts";
import type { Lifecycle } from "./host.ts";
import type { Identity } from "./identity.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Operation } from "./model.ts";
import type { MaybePromise } from "./shared-state.ts";
import type { PolicyAction } from "./tenants/policy.ts";

/** A request whose key is known and whose body is read. */
export interface EdgeRequest {
  readonly operation: Operation;
  readonly client: ClientRequest;
  readonly identity: Identity | undefined;
  /** Whether an extension may answer in place of the pipeline: in the reference dialect. */
  readonly mayAnswer: boolean;
  /** The client's document. Empty where the body is no JSON object. */
  readonly body: JsonObject;
}

/**
 * What a reader found. The gateway checks all of it as it checks the words of a client: bounds,
 * tags of other records, models that the key may not use.
 */
export interface EdgeReading {
  /**
   * The gateway's own fields, as a body has them: `tags`, `timeout`, `num_retries`, `fallbacks`.
   * They replace members of the body. `guardrails` is not among them, and `metadata` only where the
   * client's is no object.
   */
  readonly fields?: JsonObject;
  /** Members of the body that were read: no upstream gets them. Fields that only gateways know. */
  readonly taken?: readonly string[];
  /** The end user, in place of the body's. */
  readonly endUser?: string;
  /** Tags beside those of the request. */
  readonly tags?: readonly string[];
  /** Notes for the spend row. The request's own win. */
  readonly metadata?: JsonObject;
  /**
   * Answers in place of the pipeline, with calls of the gateway as the caller. It runs when what
   * the request has reserved is given back. Read where `mayAnswer` is set.
   */
  readonly answer?: (gateway: EdgeGateway) => Promise<EdgeAnswer | EdgeStream>;
}

/** A reply whose headers are about to be written. */
export interface EdgeReply {
  readonly exchange: Exchange;
  readonly status: number;
  /** Absent: unknown, or a stream. */
  readonly costNanoUsd: number | undefined;
  /** The failure that the client gets. Absent: none. */
  readonly failure: GatewayError | undefined;
  /** The limit of the whole request in milliseconds: the route's, or the client's. */
  readonly timeoutMs: number;
  /** A header of the reply, lower-case name. */
  header(name: string): string | undefined;
}

/** Another form of an error of the reference dialect. */
export interface EdgeError {
  /** From 400 to 599. Absent: the error's own. */
  readonly status?: number;
  readonly code?: string;
  readonly type?: string;
}

/** An answer of an extension. */
export interface EdgeAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonValue;
}

/** A streamed reply of the gateway, on its way to the caller. */
export interface EdgeStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Read once, to its end or until the caller leaves. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The listeners of the gateway. */
export type ListenerName = "public" | "admin";

/** A call of a route of the gateway's own. */
export interface EdgeCall {
  /** Absent: the public listener. */
  readonly listener?: ListenerName;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: JsonValue;
  /** Ends this call alone. */
  readonly signal?: AbortSignal;
}

/** The gateway as an extension calls it for its caller. */
export interface EdgeGateway {
  /**
   * Calls a route with the caller's key and headers, by the rules that hold for the caller. No
   * extension's routes and headers are in its way. Resolves with any status; `body` is text where
   * the reply is no JSON. Rejects when the caller leaves or the time is up.
   */
  call(call: EdgeCall): Promise<EdgeAnswer>;
  /** The same; a reply of events comes as a stream, to be relayed. */
  open(call: EdgeCall): Promise<EdgeAnswer | EdgeStream>;
  /** The routes of the pipelines: method and path. */
  routes(): readonly { readonly method: string; readonly path: string }[];
  /** Whether requests can be admitted. */
  isReady(): boolean;
}

/** A request to a route of an extension. */
export interface ExtensionRequest {
  readonly client: ClientRequest;
  readonly query: URLSearchParams;
  /** An empty object without a body. */
  readonly body: JsonObject;
  /** Absent on `open` routes, and on the admin listener. */
  readonly identity: Identity | undefined;
}

/** Answers a request. Throws a GatewayError to refuse. */
export type ExtensionHandler = (
  request: ExtensionRequest,
  gateway: EdgeGateway,
) => MaybePromise<EdgeAnswer>;

/** A route of an extension. It stands before a pipeline's route of its path. */
export interface ExtensionRoute {
  readonly listener: ListenerName;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As pipelines write it: `/team/{id}`, `/{provider}/{endpoint...}`. */
  readonly path: string;
  /**
   * What reaches the handler. `open`: every request, on the public listener alone. `key`: a valid
   * key. An action of the policy: a caller who may do it somewhere; on the public listener a valid
   * key. What the handler calls is decided again, for the caller and the object.
   */
  readonly access: "open" | "key" | PolicyAction;
  /** `none`: the body is left unread, whatever it is. Absent: JSON, of methods other than GET. */
  readonly body?: "none";
  readonly handler: ExtensionHandler;
}

/** Another path of a route: the pipeline serves both. */
export interface PathAlias {
  /** `POST /engines/{deployment...}/embeddings`. */
  readonly route: string;
  /** The route that it stands for, as its pipeline writes it. Without it, the alias is left out. */
  readonly of: string;
  /** The face of its clients. Absent: that of the route. */
  readonly face?: string;
}

/** A living extension. */
export interface Extension extends Lifecycle {
  /**
   * Reads a request after its key, before its body is checked. Pure; throws a GatewayError for a
   * value that is wrong. `undefined`: it has nothing of this product.
   */
  readonly read?: (request: EdgeRequest) => EdgeReading | undefined;
  /**
   * Headers for a reply, beside those it has; names begin with `x-`, and are not the gateway's.
   * What it throws is logged, and the reply goes without them.
   */
  readonly headers?: (reply: EdgeReply) => Readonly<Record<string, string>>;
  /** Another form of an error. `undefined`: the gateway's own. */
  readonly error?: (error: GatewayError) => EdgeError | undefined;
  readonly routes?: readonly ExtensionRoute[];
  readonly aliases?: readonly PathAlias[];
}
