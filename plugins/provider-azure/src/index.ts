/** @sluice/provider-azure: Azure OpenAI as a provider, by deployment paths or by its v1 API. */

import { defineProvider } from "@sluice/kit";
import {
  Compatible,
  createOperations,
  ImageCalls,
  OPENAI_HISTORY,
  reasoningTraits,
  Responses,
} from "@sluice/kit/openai";
import { Native } from "@sluice/kit/passthrough";
import type { NativeEndpoint, PassthroughRequest, Secret } from "@sluice/contract";
import { type AzureConfig, azureConfigSchema, checkCredential } from "./config.ts";
import { openIdentity } from "./identity.ts";
import { translateStream } from "./stream.ts";

/**
 * The newest of the dated versions that is no preview
 * (learn.microsoft.com/azure/ai-services/openai/api-version-lifecycle).
 */
const DATED_VERSION = "2024-10-21";

/** Addresses of Azure's own resources: another one may be a proxy without every API. */
const AZURE_HOST = /\.(?:openai|cognitiveservices)\.azure\.[a-z]+$|\.services\.ai\.azure\.com$/;

/**
 * A source of data names an index that the resource may read, and another deployment for vectors
 * (learn.microsoft.com/azure/ai-services/openai/references/on-your-data).
 */
const STEERING = ["data_sources", "dataSources"];

/** Words of Azure's own (learn.microsoft.com/azure/ai-services/openai/concepts/content-filter). */
const ERROR_WORDS: Compatible.ErrorWords = {
  content_filter_error: "server",
  NoCapacity: "overloaded",
};

/**
 * Below a deployment the path names the model
 * (learn.microsoft.com/azure/ai-services/openai/reference); the `v1` API has it in the body.
 */
const ENDPOINTS: readonly NativeEndpoint[] = [
  ...Native.openaiEndpoints(["openai/deployments/{model}/"]).map((endpoint): NativeEndpoint => ({
    ...endpoint,
    model: "path",
  })),
  ...Native.openaiEndpoints(["openai/v1/", "openai/"]),
];

function hasResponses({ responses, api, endpoint }: AzureConfig): boolean {
  return responses ?? (api === "v1" && AZURE_HOST.test(URL.parse(endpoint)?.hostname ?? ""));
}

/** Responses are below the resource in both of its APIs, with the deployment in the body. */
function responsesUrl({ endpoint, api, api_version: version }: AzureConfig): string {
  const query =
    api === "v1" && version !== undefined ? `?api-version=${encodeURIComponent(version)}` : "";
  return `${endpoint}/openai/v1/responses${query}`;
}

/** A native request with the version that its dated path needs. */
function versioned(request: PassthroughRequest, version = DATED_VERSION): PassthroughRequest {
  const { endpoint: path, query: asked } = request;
  const isDated = path.startsWith("openai/") && !path.startsWith("openai/v1/");
  if (!isDated || /(?:^|&)api-version=/i.test(asked)) return request;
  const added = `api-version=${encodeURIComponent(version)}`;
  return { ...request, query: asked === "" ? added : `${asked}&${added}` };
}

export default defineProvider<AzureConfig>({
  name: "azure",
  stability: "beta",
  summary:
    "Azure OpenAI: chat, embeddings and images of a resource's deployments, by key or Entra identity.",
  config: azureConfigSchema,
  check: checkCredential,
  create(config, host) {
    const { endpoint, api, api_key: key, token } = config;
    const version = config.api_version ?? (api === "deployments" ? DATED_VERSION : undefined);
    const query = version === undefined ? "" : `api-version=${encodeURIComponent(version)}`;
    const account: Record<string, Secret> = {};
    if (key !== undefined) account["api-key"] = key;
    if (token !== undefined) account.authorization = token.map((value) => `Bearer ${value}`);
    const tokens = openIdentity(config, host);
    const headers = { "content-type": "application/json", ...account };
    const { of, names } = createOperations({}, undefined, OPENAI_HISTORY);
    const url = (path: string, deployment: string): string => {
      const base =
        api === "v1" ? "/openai/v1" : `/openai/deployments/${encodeURIComponent(deployment)}`;
      return `${endpoint}${base}${path}${query === "" ? "" : `?${query}`}`;
    };
    return {
      capabilities: {
        operations: names,
        streaming: true,
        tools: true,
        traits: reasoningTraits,
        isReference: true,
        imagesPerCall: ImageCalls.perCall,
        steering: STEERING,
      },
      ...(hasResponses(config) ? Responses.lane : {}),
      encode(request) {
        if (request.native !== undefined)
          return Responses.call(request.native, request, { url: responsesUrl(config), headers });
        const { path, encode } = of(request);
        return {
          kind: "http",
          method: "POST",
          url: url(path, request.target.model),
          headers,
          body: encode(request),
        };
      },
      decode: (body, request) =>
        request.native === undefined
          ? of(request).decode(body, request)
          : Responses.decode(body, request),
      stream: (request) =>
        request.native === undefined ? translateStream(request) : Responses.translate(request),
      error: (reply) => Compatible.readError(reply, ERROR_WORDS),
      passthrough: (request) => Native.call(versioned(request, version), endpoint, account),
      native: { root: Native.root(endpoint), endpoints: ENDPOINTS },
      ...(tokens === undefined
        ? {}
        : {
            authorize: async (call) => {
              const bearer = (await tokens.get()).map((value) => `Bearer ${value}`);
              return { ...call, headers: { ...call.headers, authorization: bearer } };
            },
          }),
    };
  },
});
