/** Providers: pure translations between the reference dialect and an upstream's. No socket, no clock, no environment. */

import type { GatewayError } from "./error.ts";
import type { Frame } from "./frame.ts";
import type { JsonDocument } from "./json.ts";
import type { HttpMethod, NativeApi, OpenEndpoints } from "./native.ts";
import type { Operation } from "./operation.ts";
import type { Target } from "./target.ts";
import type { Secret } from "./secret.ts";
import type { Usage } from "./usage.ts";

/** What is to be translated: the request without the gateway's own fields, and where it goes. */
export interface ProviderRequest {
  readonly operation: Operation;
  readonly document: JsonDocument;
  readonly target: Target;
  /** The model id that the client is to read in the reply. */
  readonly replyModel: string;
  readonly stream: boolean;
  /** The reply's `id` for upstreams that give none: `chatcmpl-…`. */
  readonly replyId: string;
  /** The reply's `created` for upstreams that give none: seconds since 1970. */
  readonly createdSeconds: number;
}

/** What a translation could not say, of what the request asks for. */
export interface TranslationNotice {
  /** Parameters whose wish was left out for this call, for `x-sluice-dropped-params`. Absent: none. */
  readonly dropped?: readonly string[];
}

/** A call over HTTP. Header values may be secrets; the transport reveals them as it writes them. */
export interface HttpCall extends TranslationNotice {
  readonly kind: "http";
  readonly method: HttpMethod;
  /** Absolute URL, built from the configuration. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body: Uint8Array | string | undefined;
}

/** The answer of an upstream that needs no network. It is decoded like any other. */
export interface LocalCall extends TranslationNotice {
  readonly kind: "local";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Iterable<string>;
}

export type UpstreamCall = HttpCall | LocalCall;

/** One event of an upstream's stream. */
export interface UpstreamEvent {
  /** The event's type, `undefined` when unnamed. */
  readonly event: string | undefined;
  readonly data: string;
}

/** What a reply in one piece turned out to be. */
export interface DecodedReply {
  readonly document: JsonDocument;
  /** `undefined` when the upstream reported none. */
  readonly usage: Usage | undefined;
}

/**
 * What a frame is to the gateway. `content` carries something the client asked for and commits the reply; `preamble` does
 * not (a role, an empty text); `usage` carries the usage and nothing else, and goes to clients that asked for it.
 */
export type FrameRole = "preamble" | "content" | "usage";

/** Where a stream translator puts what it has. */
export interface StreamSink {
  /** Whether content has already been seen: afterwards the difference between preamble and content no longer matters. */
  readonly committed: boolean;
  frame(frame: Frame, role: FrameRole): void;
  /** The usage of the attempt; the last word counts. */
  usage(usage: Usage): void;
  /** An event could not be read and was left out. The row of the attempt says so. Absent: nothing counts them. */
  dropped?(): void;
  /** The stream ended as its dialect says a stream ends. */
  done(): void;
}

/** Translates one stream, event by event. Throws a GatewayError when the stream reports an error or breaks its dialect. */
export interface StreamTranslator {
  event(event: UpstreamEvent, sink: StreamSink): void;
  /**
   * The connection has ended in good order, and nothing said that the stream is done. For dialects without an end mark, which
   * say here whether the reply is whole.
   */
  end?(sink: StreamSink): void;
}

/** What an upstream's error reply says of itself. */
export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as text, bounded. */
  readonly body: string;
}

/**
 * What a request may need of a model beside its text: tool calls; images, audio or documents in the prompt; an audio reply
 * (`speech`); a reply in a JSON schema.
 */
export type Feature = "tools" | "images" | "audio" | "documents" | "speech" | "schema";

/** How a model departs from the reference dialect in what it takes. The gateway settles it before `encode`. */
export interface ModelTraits {
  /** Stands for the provider's `parameters`. */
  readonly parameters?: readonly string[];
  /** The least and the greatest value of a number. A value beyond becomes the nearest one, and is listed. */
  readonly ranges?: Readonly<Record<string, readonly [least: number, greatest: number]>>;
  /** It has no JSON mode: an instruction and a check of the reply stand for it, and `response_format` is listed. */
  readonly hasNoJsonMode?: true;
  /** It takes `temperature` or `top_p`, and refuses both together. What is 1 of the two is left out. */
  readonly takesOneSampling?: true;
  /** It goes on with an assistant message that comes last. */
  readonly prefills?: true;
  /** It may think for minutes before its first content: a silent stream is given that time. */
  readonly reasons?: true;
  /** It refuses stop texts that are white space: they are left out, and `stop` is listed. */
  readonly refusesBlankStops?: true;
}

/** What a provider can do; what it cannot is skipped or refused with its name. */
export interface Capabilities {
  readonly operations: readonly Operation[];
  readonly streaming: boolean;
  readonly tools: boolean;
  /** The optional parameters of the reference dialect that it honours. Absent: all of them. Others are refused, or dropped. */
  readonly parameters?: readonly string[];
  /**
   * Top-level fields of the upstream's own requests, beside the reference dialect: `top_k`. Only fields that gateways know as well
   * need to be named (`priority`): without it the gateway drops them with a notice.
   */
  readonly nativeFields?: readonly string[];
  /**
   * Top-level fields of the upstream's own requests that let it answer with another model, or with tools that cost, than the gateway
   * authorised: a list of models, a route, plugins. Refused unless the target names them in `forward`.
   */
  readonly steering?: readonly string[];
  /** What a model takes otherwise than the provider's other models, and otherwise than the reference dialect. Absent: nothing. */
  traits?(model: string): ModelTraits | undefined;
  /** Whether a model can do something. Absent, and `undefined`: unknown. A fallback that cannot is passed over. */
  supports?(feature: Feature, model: string): boolean | undefined;
  /** Images that one call to a model can make. A request for more becomes several calls. Absent: as many as are asked for. */
  imagesPerCall?(model: string): number;
  /** Inputs that one embeddings call to a model can take. A request with more becomes several calls. Absent: as many as there are. */
  inputsPerCall?(model: string): number;
}

/** A native request to hand on as it is: the upstream's own path, headers from the gateway's allow-list, the client's bytes. */
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

/** A living provider: four pure functions and what it can do. */
export interface Provider {
  readonly capabilities: Capabilities;
  /** The name under which its models are priced and known, where one plugin serves many: `groq`. Absent: the plugin's name. */
  readonly priceAs?: string;
  /** The upstream call of a request. Throws `unsupported_parameter` for what the upstream cannot honour. */
  encode(request: ProviderRequest): UpstreamCall;
  /**
   * The reply in the reference dialect. Throws `upstream_invalid_response`, or the error that a 200 carries inside. The headers
   * of the reply are for upstreams that tell the usage there; a reply that was not sent over HTTP has none.
   */
  decode(body: Uint8Array, request: ProviderRequest, headers?: ErrorReply["headers"]): DecodedReply;
  /** A translator for one streamed reply. */
  stream(request: ProviderRequest): StreamTranslator;
  /** The error of a reply whose status is not 2xx, with `retryable` and `retryAfterMs`. */
  error(reply: ErrorReply): GatewayError;
  /**
   * The upstream call of a native request: the address and the credential are the provider's, the rest the client's. Throws
   * `permission_denied` for a path that the configured account does not include.
   */
  passthrough?(request: PassthroughRequest): HttpCall;
  /** Its own API. Absent: it declares no endpoints, and its native root is the upstream's address. */
  readonly native?: NativeApi;
  /**
   * The model that a native request means, as its price is called, at endpoints of `native` whose model is `provider`: a field
   * of a form, another place of the path. `undefined` when it means none.
   */
  nativeModel?(request: PassthroughRequest): string | undefined;
  /**
   * Completes a call with what changes over time: a token that was fetched, a signature of the body and the hour. For providers
   * whose credential is no constant; the only function that may wait, and each attempt calls it anew.
   */
  authorize?(call: HttpCall, signal: AbortSignal): HttpCall | Promise<HttpCall>;
}

/** A provider instance of a generation, with everything an attempt needs. */
export interface ProviderInstance {
  /** The name in `config/gateway.yaml`. */
  readonly name: string;
  /** The plugin's name. */
  readonly use: string;
  /** The name under which its models are priced and known. Absent: the plugin's. */
  readonly priceAs?: string;
  readonly translation: Provider;
  /** A digest of what it was configured with, its credential left out: another one answers under the same name. */
  readonly identity?: string;
  /**
   * What its calls reach and how: a digest of plugin, options, the values of credentials and the deadlines, keyed by a secret of
   * the process. Providers with the same one share what is learnt of their health. Absent: the name stands for it.
   */
  readonly callee?: string;
  readonly timeouts: ProviderTimeouts;
  /** Connections kept to this provider at most. */
  readonly connections: number;
  /** What is open of its own API to keys without `passthrough`. Absent: the inference endpoints. */
  readonly endpoints?: OpenEndpoints;
  /** Whether clients of native routes see the rate limits of the provider's account. Absent: they do not. */
  readonly showsRateLimits?: boolean;
  /** Headers that every call has, by lower-case names. Absent: none. */
  readonly callHeaders?: Readonly<Record<string, string>>;
  /** Request headers of the client that go on, lower-case names. Absent: none but those that the provider's own API declares. */
  readonly passHeaders?: readonly string[];
  /** Absent: nothing is fetched. */
  readonly fetchMedia?: MediaFetchSettings;
}

/** How what a client names by URL is fetched, so that the provider gets it by value. */
export interface MediaFetchSettings {
  /** Hosts that are fetched from: `*` for all, `*.example.com` for those below, `cdn.example.com`. Other URLs go on as they are. */
  readonly hosts: readonly string[];
  /** Origins of the operator's own, `http://10.0.0.5:9000`: they may have private addresses, a port and no TLS. */
  readonly allowOrigins: readonly string[];
  readonly maxBytes: number;
  /** For one medium, all redirects and the wait for a place included. */
  readonly timeoutMs: number;
  /** Redirects that are followed, each as wary as the first URL. */
  readonly redirects: number;
  /** Fetches at the same time in this process. */
  readonly maxParallel: number;
}

/** Deadlines of one attempt, in milliseconds. */
export interface ProviderTimeouts {
  readonly connectMs: number;
  /** From the request to the first byte of a whole reply. */
  readonly firstByteMs: number;
  /** The same of a stream. Absent: `firstByteMs`. */
  readonly streamFirstByteMs?: number;
  /** From the request to the first content of a stream. Absent: the caller decides by the request. */
  readonly firstContentMs?: number;
  readonly idleMs: number;
  /** To wait for a connection that is free, before the attempt begins. Absent: 10 s. */
  readonly queueMs?: number;
}

/** The available providers of a generation. */
export interface ProviderCatalog {
  find(name: string): ProviderInstance | undefined;
  names(): readonly string[];
}
