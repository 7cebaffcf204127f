/**
 * @sluice/provider-compatible: providers that speak the OpenAI format with quirks of their own, by
 * a table of presets.
 */

import { defineProvider } from "@sluice/kit";
import {
  Compatible,
  createOperations,
  PARAMETERS,
  readUsage,
  reasoningTraits,
  Responses,
} from "@sluice/kit/openai";
import { Native } from "@sluice/kit/passthrough";
import type {
  DecodedReply,
  JsonDocument,
  Provider,
  ProviderRequest,
  Secret,
} from "@sluice/contract";
import { checkOptions, type CompatibleConfig, compatibleConfigSchema } from "./config.ts";
import { type Preset, PRESETS } from "./presets.ts";
import { adaptChat, adaptImages } from "./request.ts";

export default defineProvider<CompatibleConfig>({
  name: "compatible",
  stability: "beta",
  summary:
    "Groq, DeepSeek, xAI, Together, Fireworks, OpenRouter, Perplexity, Ollama, vLLM, LM Studio, and any server that speaks the OpenAI format.",
  modelList: "models",
  config: compatibleConfigSchema,
  check: checkOptions,
  create(config) {
    const preset: Preset = PRESETS[config.preset];
    const baseUrl = config.base_url ?? preset.baseUrl ?? "";
    const priceAs = config.price_as ?? preset.priceAs;
    const account: Record<string, string | Secret> = { ...config.headers };
    if (config.api_key !== undefined)
      account.authorization = config.api_key.map((key) => `Bearer ${key}`);
    const headers = { "content-type": "application/json", ...account };
    const { of, names } = createOperations(
      { formats: config.embedding_formats },
      preset.operations ?? ["chat"],
    );
    return {
      ...(priceAs === undefined ? {} : { priceAs }),
      capabilities: capabilitiesOf(preset, names),
      ...(config.responses === true ? Responses.lane : {}),
      encode(request) {
        if (request.native !== undefined)
          return Responses.call(request.native, request, { url: `${baseUrl}/responses`, headers });
        return {
          kind: "http",
          method: "POST",
          url: baseUrl + of(request).path,
          headers,
          body: adapted(of(request).encode(request), request, preset),
        };
      },
      decode(body, request) {
        if (request.native !== undefined) return Responses.decode(body, request);
        const decoded = of(request).decode(body, request);
        return request.operation === "chat" ? repaired(decoded, request, preset) : decoded;
      },
      stream: (request) =>
        request.native === undefined
          ? Compatible.createTranslator(request, preset.finish)
          : Responses.translate(request),
      error: (reply) => Compatible.readError(reply, preset.errors),
      passthrough: (request) => Native.call(request, baseUrl, account, preset.nativeApi?.prefixes),
      native: {
        root: Native.root(baseUrl),
        ...(preset.nativeApi === undefined
          ? {}
          : { endpoints: [...Native.openaiEndpoints(), ...preset.nativeApi.endpoints] }),
      },
    };
  },
});

function capabilitiesOf(
  preset: Preset,
  operations: Provider["capabilities"]["operations"],
): Provider["capabilities"] {
  const { hasNoTools, lacks, native, refused, steering } = preset;
  const parameters = [...Object.values(PARAMETERS).flat(), "user"];
  return {
    operations,
    streaming: true,
    tools: hasNoTools !== true,
    parameters: parameters.filter((name) => !refused.includes(name)),
    ...(preset.takesAnyMember === true ? {} : { isReference: true }),
    traits: reasoningTraits,
    ...(native === undefined ? {} : { nativeFields: native }),
    ...(steering === undefined ? {} : { steering }),
    supports: (feature) => (lacks?.includes(feature) === true ? false : undefined),
  };
}

/** A body as the upstream reads it. */
function adapted(document: JsonDocument, request: ProviderRequest, preset: Preset): JsonDocument {
  if (request.operation === "chat") return adaptChat(document, request, preset);
  return request.operation === "images" && preset.images === "pixels"
    ? adaptImages(document, request)
    : document;
}

/** A chat reply with the members that the upstream names otherwise or leaves out. */
function repaired(decoded: DecodedReply, request: ProviderRequest, preset: Preset): DecodedReply {
  const { value } = decoded.document;
  const chunks = new Compatible.ChunkRepairer(preset.finish ?? {}, request.replyId);
  const complete = chunks.repair(decoded.document);
  if (complete === value) return decoded;
  return {
    document: decoded.document.with(complete),
    usage: decoded.usage ?? readUsage(complete.usage),
  };
}
