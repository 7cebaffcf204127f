/**
 * Providers: pure translations between the reference dialect and an upstream's. No socket, no
 * clock, no environment.
 */

import type { GatewayError } from "./error.ts";
import type { StreamFraming, StreamTranslator } from "./frame.ts";
import type { JsonDocument } from "./json.ts";
import type {
  HttpMethod,
  NativeApi,
  NativeDocument,
  OpenEndpoints,
  OpenObjects,
} from "./native.ts";
import type { Operation } from "./model.ts";
import type { Target } from "./target.ts";
import type { Secret } from "./secret.ts";
import type { Usage } from "./usage.ts";

/** The input of a translation: the request without the gateway's own fields, and its target. */
export interface ProviderRequest {
  readonly operation: Operation;
  readonly document: JsonDocument;
  /**
   * The client's own document, where it is in one of the provider's `dialects` and no step has
   * edited the request: it is sent in place of the translation. The model is the target's.
   */
  readonly native?: NativeDocument;
  readonly target: Target;
  /** The model id that the client reads in the reply. */
  readonly replyModel: string;
  readonly stream: boolean;
  /** The reply's `id` for upstreams that send none: `chatcmpl-…`. */
  readonly replyId: string;
  /** The reply's `created` for upstreams that send none: seconds since 1970. */
  readonly createdSeconds: number;
}

/** The parts of the request that a translation left out. */
export interface TranslationNotice {
  /** Parameters that this call does not honour, for `x-sluice-dropped-params`. Absent: none. */
  readonly dropped?: readonly string[];
}

/**
 * A call over HTTP. Header values may be secrets; the transport reveals them when it writes them.
 */
export interface HttpCall extends TranslationNotice {
  readonly kind: "http";
  readonly method: HttpMethod;
  /** Absolute URL, built from the configuration. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body: Uint8Array | string | undefined;
  /**
   * The body is the client's own document (`ProviderRequest.native`): the reply is in the client's
   * dialect, and is relayed where no step reads it. Absent: the reply is translated.
   */
  readonly isNative?: true;
}

/**
 * The call that `encode` returns. The gateway writes a body that is a document before `authorize`:
 * a large one in slices, so that no turn of the event loop takes long.
 */
export interface EncodedCall extends Omit<HttpCall, "body"> {
  readonly body: HttpCall["body"] | JsonDocument;
}

/** The answer of an upstream without a network. It is decoded like any other. */
export interface LocalCall extends TranslationNotice {
  readonly kind: "local";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Iterable<string>;
}

export type UpstreamCall = EncodedCall | LocalCall;

/** A decoded reply in one piece. */
export interface DecodedReply {
  readonly document: JsonDocument;
  /** `undefined` when the upstream reported none. */
  readonly usage: Usage | undefined;
}

/** The upstream's error reply. */
export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as text, truncated. */
  readonly body: string;
}

/**
 * A capability that a request may need of a model besides text: tool calls; images, audio or
 * documents in the prompt; an audio reply (`speech`); a reply in a JSON schema.
 */
export type Feature = "tools" | "images" | "audio" | "documents" | "speech" | "schema";

/**
 * The differences between a model's parameters and the reference dialect. The gateway applies them
 * before `encode`.
 */
export interface ModelTraits {
  /** Replaces the provider's `parameters`. */
  readonly parameters?: readonly string[];
  /**
   * The minimum and the maximum of a number. A value outside becomes the nearest bound, and is
   * listed.
   */
  readonly ranges?: Readonly<Record<string, readonly [least: number, greatest: number]>>;
  /**
   * The model has no JSON mode. An instruction and a check of the reply replace it, and
   * `response_format` is listed.
   */
  readonly hasNoJsonMode?: true;
  /**
   * The model takes `temperature` or `top_p`, and refuses both together. The one with the value 1
   * is left out.
   */
  readonly takesOneSampling?: true;
  /** The model continues a final assistant message. */
  readonly prefills?: true;
  /**
   * The model may think for minutes before its first content. A silent stream gets the longer
   * deadline.
   */
  readonly reasons?: true;
  /** The model refuses stop texts of white space. They are left out, and `stop` is listed. */
  readonly refusesBlankStops?: true;
}

/**
 * The capabilities of a provider. A provider without a capability is skipped, or the request is
 * refused with its name.
 */
export interface Capabilities {
  readonly operations: readonly Operation[];
  readonly streaming: boolean;
  readonly tools: boolean;
  /**
   * The supported optional parameters of the reference dialect. Absent: all of them. Others are
   * refused, or dropped.
   */
  readonly parameters?: readonly string[];
  /**
   * The upstream takes the reference dialect as it is, without the extensions that faces write:
   * `cache_control`, `is_error`, blocks with a `source`, `thinking`. The gateway lowers them for
   * requests of faces.
   */
  readonly isReference?: true;
  /**
   * Top-level fields of the upstream's own requests, besides the reference dialect: `top_k`. Name
   * only fields that gateways also use (`priority`): the gateway drops those with a notice unless
   * they are listed.
   */
  readonly nativeFields?: readonly string[];
  /**
   * Top-level fields of the upstream's own requests that change the authorised model or add paid
   * tools: a list of models, a route, plugins. Refused unless the target names them in `forward`.
   */
  readonly steering?: readonly string[];
  /**
   * The differences of a model from the provider's other models and from the reference dialect.
   * Absent: none.
   */
  traits?(model: string): ModelTraits | undefined;
  /**
   * Whether a model has a feature. Absent, and `undefined`: unknown. A fallback without the feature
   * is skipped.
   */
  supports?(feature: Feature, model: string): boolean | undefined;
  /**
   * Maximum number of images in one call to a model. A request for more becomes several calls.
   * Absent: no maximum.
   */
  imagesPerCall?(model: string): number;
  /**
   * Maximum number of inputs in one embeddings call to a model. A request with more becomes several
   * calls. Absent: no maximum.
   */
  inputsPerCall?(model: string): number;
}

/**
 * A native request, unchanged: the upstream's own path, headers from the gateway's allow-list, the
 * client's bytes.
 */
export interface PassthroughRequest {
  readonly method: HttpCall["method"];
  /** The native path without a leading slash, percent-encoded as the client sent it. */
  readonly endpoint: string;
  /** The query without the question mark; empty when there is none. */
  readonly query: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

/** A running provider: four pure functions and its capabilities. */
export interface Provider {
  readonly capabilities: Capabilities;
  /**
   * The client dialects whose chat requests its upstream takes unchanged but for the model:
   * `encode` then gets them as `request.native`. Absent: none.
   */
  readonly dialects?: readonly string[];
  /** Whether a model takes a dialect of `dialects`. Absent: every model takes all of them. */
  takesDialect?(dialect: string, model: string): boolean;
  /**
   * The name of its models in prices and in the model table, where one plugin serves many
   * providers: `groq`. Absent: the plugin's name.
   */
  readonly priceAs?: string;
  /**
   * The upstream call of a request. Throws `unsupported_parameter` for a parameter that the
   * upstream does not support.
   */
  encode(request: ProviderRequest): UpstreamCall;
  /**
   * The same in stages of some milliseconds, for large requests: it yields where other requests may
   * be served. Absent: `encode` is one stage.
   */
  encodeInStages?(request: ProviderRequest): Generator<void, UpstreamCall, undefined>;
  /**
   * The reply in the reference dialect. Throws `upstream_invalid_response`, or the error inside a
   * 200. The reply's headers are for upstreams that report the usage there; a local reply has none.
   */
  decode(body: Uint8Array, request: ProviderRequest, headers?: ErrorReply["headers"]): DecodedReply;
  /** The framing of its streams besides server-sent events. Absent: there is none. */
  readonly framing?: StreamFraming;
  /** A translator for one streamed reply. */
  stream(request: ProviderRequest): StreamTranslator;
  /** The error of a reply whose status is not 2xx, with `retryable` and `retryAfterMs`. */
  error(reply: ErrorReply): GatewayError;
  /**
   * The upstream call of a native request: the address and the credential are the provider's, the
   * rest the client's. Throws `permission_denied` for a path that the configured account does not
   * include.
   */
  passthrough?(request: PassthroughRequest): HttpCall;
  /**
   * The provider's own API. Absent: it declares no endpoints, and its native root is the upstream's
   * address.
   */
  readonly native?: NativeApi;
  /**
   * The model of a native request, by its price name, at endpoints of `native` whose model is
   * `provider`: from a form field, or from the path. `undefined` when the request names none.
   */
  nativeModel?(request: PassthroughRequest): string | undefined;
  /**
   * Adds the credentials that change over time: a fetched token, or a signature of the body and the
   * hour. For providers whose credential is not constant. This is the only function that may wait.
   * Each attempt calls it again.
   */
  authorize?(call: HttpCall, signal: AbortSignal): HttpCall | Promise<HttpCall>;
}

/** A provider instance of a generation, with everything an attempt needs. */
export interface ProviderInstance {
  /** The name in `config/gateway.yaml`. */
  readonly name: string;
  /** The plugin's name. */
  readonly use: string;
  /** The name of its models in prices and in the model table. Absent: the plugin's. */
  readonly priceAs?: string;
  readonly translation: Provider;
  /**
   * A digest of its configuration without the credential. A different digest under the same name is
   * another provider.
   */
  readonly identity?: string;
  /**
   * The destination of its calls: a digest of plugin, options, credential values and deadlines,
   * keyed by a secret of the process. Providers with the same digest share their health records.
   * Absent: the name is used instead.
   */
  readonly callee?: string;
  readonly timeouts: ProviderTimeouts;
  /** Maximum number of connections kept to this provider. */
  readonly connections: number;
  /**
   * The part of its own API that keys without `passthrough` may call. Absent: the inference
   * endpoints.
   */
  readonly endpoints?: OpenEndpoints;
  /** Absent: keys name no object of the account. */
  readonly accountObjects?: OpenObjects;
  /**
   * Whether clients of native routes see the rate limits of the provider's account. Absent: they do
   * not.
   */
  readonly showsRateLimits?: boolean;
  /** Headers of every call, by lower-case names. Absent: none. */
  readonly callHeaders?: Readonly<Record<string, string>>;
  /**
   * The client's request headers that are passed on, lower-case names. Absent: only those that the
   * provider's own API declares.
   */
  readonly passHeaders?: readonly string[];
  /** Absent: the gateway fetches no media. */
  readonly fetchMedia?: MediaFetchSettings;
}

/** Settings for fetching media that a client names by URL. The provider gets the bytes. */
export interface MediaFetchSettings {
  /**
   * Hosts to fetch from: `*` for all, `*.example.com` for subdomains, `cdn.example.com`. Other URLs
   * are passed on unchanged.
   */
  readonly hosts: readonly string[];
  /**
   * Origins of the operator, `http://10.0.0.5:9000`: they may have private addresses, a port and no
   * TLS.
   */
  readonly allowOrigins: readonly string[];
  readonly maxBytes: number;
  /** Deadline for one medium, with all redirects and the wait for a place. */
  readonly timeoutMs: number;
  /** Maximum number of redirects. Each target passes the same checks as the first URL. */
  readonly redirects: number;
  /** Maximum number of concurrent fetches in this process. */
  readonly maxParallel: number;
}

/** Deadlines of one attempt, in milliseconds. */
export interface ProviderTimeouts {
  readonly connectMs: number;
  /** From the request to the first byte of a reply in one piece. */
  readonly firstByteMs: number;
  /** The same for a stream. Absent: `firstByteMs`. */
  readonly streamFirstByteMs?: number;
  /**
   * From the request to the first content of a stream. Absent: the caller chooses it by the
   * request.
   */
  readonly firstContentMs?: number;
  readonly idleMs: number;
  /** Maximum wait for a free connection, before the attempt begins. Absent: 10 s. */
  readonly queueMs?: number;
}

/** The available providers of a generation. */
export interface ProviderCatalog {
  find(name: string): ProviderInstance | undefined;
  names(): readonly string[];
}
