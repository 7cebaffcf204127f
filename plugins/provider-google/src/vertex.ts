/**
 * Vertex AI: Google's models and Claude, with the tokens of a service account or of the machine.
 */

import { defineProvider, isObject, Option, Stages, writtenDocument } from "@sluice/kit";
import { Failures } from "@sluice/kit/dialect";
import { Native } from "@sluice/kit/passthrough";
import { Tokens } from "@sluice/kit/transport";
import * as anthropic from "@sluice/provider-anthropic/messages";
import {
  type EncodedCall,
  GatewayError,
  type Host,
  type HttpCall,
  type ModelTraits,
  type ProviderRequest,
  type Secret,
  type UpstreamCall,
} from "@sluice/contract";
import { claudeCall, nativeClaude } from "./claude.ts";
import { vertexMethod } from "./embeddings.ts";
import { readError } from "./errors.ts";
import { imagesPerCall, isClaude, supports, thinks } from "./models.ts";
import { DIALECT, nativeBody } from "./native.ts";
import { VERTEX_ENDPOINTS } from "./native-endpoints.ts";
import { withoutSystemParameters } from "./native-query.ts";
import {
  chatMethod,
  decodeReply,
  type MethodCall,
  methodCall,
  OPERATIONS,
  PARAMETERS,
  pathName,
} from "./operations.ts";
import { translateStream } from "./reply.ts";
import { toolNames } from "./request.ts";
import { readServiceAccount, tokenRequestBody } from "./service-account.ts";

/** The options of Vertex AI in YAML. */
export interface VertexConfig {
  readonly project: string;
  readonly location: string;
  readonly credentials?: Secret;
  readonly metadata_url: string;
  readonly base_url?: string;
  readonly version: string;
}

/** The dialect of clients of Anthropic's messages. */
const MESSAGES = anthropic.DIALECT;

/** Two dialects at one address: each model takes what its own has. */
const CLAUDE_TRAITS = { ...anthropic.traits(), parameters: anthropic.PARAMETERS };
const GEMINI_TRAITS: ModelTraits = { parameters: PARAMETERS };
const THINKING_TRAITS: ModelTraits = { ...GEMINI_TRAITS, reasons: true };

const TOKEN_PATH = "/computeMetadata/v1/instance/service-accounts/default/token";

export const vertex = defineProvider<VertexConfig>({
  name: "vertex",
  stability: "beta",
  summary:
    "Gemini, Imagen and Claude by Vertex AI: chat, tools, every medium, thinking, embeddings, images; and every native path.",
  config: {
    type: "object",
    required: ["project"],
    properties: {
      project: {
        type: "string",
        pattern: "^[a-z0-9.:-]+$",
        description: "The Google Cloud project. Example: `my-project`.",
      },
      location: {
        type: "string",
        pattern: "^[a-z0-9-]+$",
        default: "global",
        description:
          "Where the models run: `global`, a multi-region (`us`, `eu`) or a region. Example: `europe-west1`.",
      },
      credentials: Option.secret(
        "The JSON key of a service account, as a reference: `${file:/run/secrets/vertex.json}`. Default: the metadata server of the machine.",
      ),
      metadata_url: {
        type: "string",
        pattern: "^https?://[^/?#]+$",
        default: "http://metadata.google.internal",
        description:
          "The metadata server, for machines without `credentials`. Example: `http://169.254.169.254`.",
      },
      base_url: Option.address(
        "Base address of the API, without a slash at the end. Default: the address of `location`. Example: `https://europe-west1-aiplatform.googleapis.com`.",
      ),
      version: {
        type: "string",
        pattern: "^v[0-9a-z]+$",
        default: "v1beta1",
        description: "The API's version. Example: `v1`.",
      },
    },
  },
  check({ credentials }) {
    const account = credentials === undefined ? undefined : readServiceAccount(credentials);
    if (typeof account !== "string") return [];
    const fix = "Give it the JSON key of a service account: ${file:/run/secrets/vertex.json}";
    return [{ path: ["credentials"], message: `\`credentials\` ${account}`, fix }];
  },
  create(config, host) {
    const base = config.base_url ?? originOf(config.location);
    const parent = `${base}/${config.version}/projects/${config.project}/locations/${config.location}`;
    const tokens = tokensOf(config, host);
    const encodeInStages = function* (request: ProviderRequest): Stages.Of<UpstreamCall> {
      const { method, headers: own, ...made } = yield* callOf(request, host);
      const url = `${parent}/${resourceOf(request.target.model)}:${method}`;
      const headers = { "content-type": "application/json", ...own };
      return { kind: "http", method: "POST", url, headers, ...made };
    };
    return {
      capabilities: {
        operations: OPERATIONS,
        streaming: true,
        tools: true,
        parameters: [...new Set([...PARAMETERS, ...anthropic.PARAMETERS])],
        traits: (model) =>
          isClaude(model) ? CLAUDE_TRAITS : thinks(model) ? THINKING_TRAITS : GEMINI_TRAITS,
        supports,
        imagesPerCall,
        inputsPerCall: (model) => vertexMethod(model).inputsPerCall,
      },
      dialects: [MESSAGES, DIALECT],
      takesDialect: (dialect, model) => dialect === (isClaude(model) ? MESSAGES : DIALECT),
      encode: (request) => Stages.atOnce(encodeInStages(request)),
      encodeInStages,
      decode: (body, request) =>
        isClaude(request.target.model)
          ? anthropic.decodeMessage(body, request, anthropic.toolNames(request))
          : decodeReply(body, request),
      stream: (request) =>
        isClaude(request.target.model)
          ? anthropic.translateStream(request, () => anthropic.toolNames(request))
          : translateStream(request, () => toolNames(request)),
      // Claude's own errors come through; those of the address before it are Google's.
      error: (reply) => (isAnthropic(reply.body) ? anthropic.readError(reply) : readError(reply)),
      passthrough(request) {
        checkPlace(request.endpoint, config);
        return Native.call(withoutSystemParameters(request), base, {});
      },
      native: {
        root: Native.root(base),
        endpoints: VERTEX_ENDPOINTS,
        requestHeaders: ["anthropic-beta", "anthropic-version"],
      },
      async authorize(call) {
        return {
          ...call,
          headers: {
            ...call.headers,
            authorization: (await tokens.get()).map((value) => `Bearer ${value}`),
          },
        };
      },
    };
  },
});

/** A call with the method that follows the model in the URL. */
type VertexCall = Pick<MethodCall, "method" | "dropped"> &
  Pick<EncodedCall, "headers" | "body" | "isNative">;

/** The call of a request: with the client's own document, or with a translation. */
function* callOf(request: ProviderRequest, { models }: Host): Stages.Of<VertexCall> {
  const own = nativeOf(request);
  if (own !== undefined) return own;
  const isClaudeChat = request.operation === "chat" && isClaude(request.target.model);
  const { body, ...call } = yield* isClaudeChat
    ? claudeCall(request, models.find(request.replyModel)?.info?.maxOutputTokens)
    : methodCall(request, true);
  return { ...call, headers: {}, body: writtenDocument(body) };
}

/** The call with the client's own document; `undefined` where the translation is sent. */
function nativeOf(request: ProviderRequest): VertexCall | undefined {
  const { native, target } = request;
  if (native === undefined) return undefined;
  if (isClaude(target.model)) return nativeClaude(native, request);
  const body = nativeBody(request, true);
  return body === undefined
    ? undefined
    : { method: chatMethod(request), headers: {}, body, isNative: true };
}

/** Where a location's API lives (`_api_client` of @google/genai 2.32.0). */
function originOf(location: string): string {
  if (location === "global") return "https://aiplatform.googleapis.com";
  if (location === "us" || location === "eu")
    return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}

/**
 * Throws `permission_denied` for a native path of another project or location: the credential may
 * reach more than the operator configured. A project may be written by its number, which the
 * gateway does not know; it is refused too.
 */
function checkPlace(endpoint: string, { project, location }: VertexConfig): void {
  const named = (collection: string): string[] =>
    [...endpoint.matchAll(new RegExp(`(?:^|/)${collection}/([^/]*)`, "g"))].map(([, name = ""]) =>
      decoded(name),
    );
  const strange = [
    ...named("projects").filter((name) => name !== project),
    ...named("locations").filter((name) => name !== location),
  ];
  if (strange.length === 0) return;
  const message = `The path names another project or location than the provider is configured with: ${project}, ${location}.`;
  throw new GatewayError("permission_denied", message);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The resource of a model: a publisher's, or an endpoint of the project's own, as a tuned model has
 * it.
 */
function resourceOf(model: string): string {
  const own = /^endpoints\/([\w-]+)$/.exec(model)?.[1];
  if (own !== undefined) return `endpoints/${own}`;
  const [, publisher, name] = /^publishers\/([a-z0-9-]+)\/models\/([^/]+)$/.exec(model) ?? [];
  if (publisher !== undefined && name !== undefined)
    return `publishers/${publisher}/models/${pathName(name)}`;
  return `publishers/${isClaude(model) ? "anthropic" : "google"}/models/${pathName(model)}`;
}

function isAnthropic(body: string): boolean {
  const value = Failures.bodyOf(body);
  return value?.type === "error" && isObject(value.error) && typeof value.error.type === "string";
}

/** The tokens of the service account, or of the machine. */
function tokensOf(
  { credentials, metadata_url: metadataUrl }: VertexConfig,
  host: Host,
): Tokens.Source {
  if (credentials === undefined) {
    const headers = { "metadata-flavor": "Google" };
    const call: HttpCall = {
      kind: "http",
      method: "GET",
      url: metadataUrl + TOKEN_PATH,
      headers,
      body: undefined,
    };
    return Tokens.open(host, ["google", metadataUrl], {
      name: "metadata server",
      request: () => call,
    });
  }
  const account = readServiceAccount(credentials);
  if (typeof account === "string") {
    throw new GatewayError(
      "upstream_auth_failed",
      `The credentials of the provider cannot be used: the key ${account}.`,
    );
  }
  return Tokens.open(host, ["google", credentials.reveal()], {
    name: credentials.name,
    request: () => ({
      kind: "http",
      method: "POST",
      url: account.tokenUrl,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: tokenRequestBody(account, host.clock.now()),
    }),
  });
}
