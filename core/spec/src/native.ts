/** What a provider says of its own API: which native requests are inference, where they name a model, how they are metered. */

/** Methods of calls over HTTP. */
export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * How the usage of a native reply is known. `text`: reported, else counted from the request and from the texts of the reply.
 * `prompt`: reported, else counted from the request alone, for replies without text. `reported`: by the reply or by nothing.
 * `free`: the upstream bills nothing.
 */
export type NativeUsage = "text" | "prompt" | "reported" | "free";

/** One endpoint of a provider's API that runs a model. */
export interface NativeEndpoint {
  /** Absent: POST. */
  readonly method?: HttpMethod;
  /**
   * The path from the native root, without a leading slash: `v1/messages`, `v1beta/models/{model}:generateContent`. `{model}` is
   * a part of one segment, decoded; any other `{name}` is one segment of letters, digits, `.`, `_`, `~` and `-`.
   */
  readonly path: string;
  /** Where the model stands. `provider`: `Provider.nativeModel` says it. `none`: the request names no model. */
  readonly model: "body" | "path" | "provider" | "none";
  readonly usage: NativeUsage;
  /** The model of the path may hold encoded slashes, as the ARN of a Bedrock model does. Absent: it may not. */
  readonly hasSlashes?: boolean;
}

/** A provider's own API. */
export interface NativeApi {
  /** The path of the native root at the upstream's address, without slashes at its ends; empty for the address itself. */
  readonly root: string;
  /** The inference endpoints. Absent: the provider declares none, and POST is served at any path. */
  readonly endpoints?: readonly NativeEndpoint[];
  /** Request headers of this API that go on, lower-case names, beside those that every API may have. */
  readonly requestHeaders?: readonly string[];
  /** Reply headers of this API that the client gets, lower-case names. */
  readonly replyHeaders?: readonly string[];
  /** Reply headers that hold an address of the upstream: it is replaced by the gateway's, under the provider's prefix. */
  readonly addressHeaders?: readonly string[];
}

/** What is open of a provider's own API: the inference endpoints, every path, or the inference endpoints and these patterns. */
export type OpenEndpoints = "inference" | "all" | readonly string[];
