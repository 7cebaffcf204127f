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
} from "@sluice/kit/openai";
import { Native } from "@sluice/kit/passthrough";
import type { DecodedReply, ProviderRequest, Secret } from "@sluice/contract";
import { checkOptions, type CompatibleConfig, compatibleConfigSchema } from "./config.ts";
import { type Preset, PRESETS } from "./presets.ts";
import { adaptChat, adaptImages } from "./request.ts";

export default defineProvider<CompatibleConfig>({
  name: "compatible",
  stability: "beta",
  summary:
    "Groq, DeepSeek, xAI, Together, Fireworks, OpenRouter, Perplexity, Ollama, vLLM, LM Studio, and any server that speaks the OpenAI format.",
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
    const tools = preset.hasNoTools !== true;
    const parameters = [...Object.values(PARAMETERS).flat(), "user"].filter(
      (name) => !preset.refused.includes(name),
    );
    const adapt = (request: ProviderRequest) => {
      const document = of(request).encode(request);
      if (request.operation === "chat") return adaptChat(document, request, preset);
      return request.operation === "images" && preset.images === "pixels"
        ? adaptImages(document, request)
        : document;
    };
    const decodeReply = (body: Uint8Array, request: ProviderRequest): DecodedReply => {
      const decoded = of(request).decode(body, request);
      if (request.operation !== "chat") return decoded;
      const { value } = decoded.document;
      const repaired = new Compatible.ChunkRepairer(preset.finish ?? {}, request.replyId).repair(
        value,
      );
      return repaired === value
        ? decoded
        : {
            document: decoded.document.with(repaired),
            usage: decoded.usage ?? readUsage(repaired.usage),
          };
    };
    return {
      ...(priceAs === undefined ? {} : { priceAs }),
      capabilities: {
        operations: names,
        streaming: true,
        tools,
        parameters,
        traits: reasoningTraits,
        ...(preset.native === undefined ? {} : { nativeFields: preset.native }),
        ...(preset.steering === undefined ? {} : { steering: preset.steering }),
        supports: (feature) => (preset.lacks?.includes(feature) === true ? false : undefined),
      },
      encode(request) {
        return {
          kind: "http",
          method: "POST",
          url: baseUrl + of(request).path,
          headers,
          body: adapt(request).bytes,
        };
      },
      decode: decodeReply,
      stream: (request) => Compatible.createTranslator(request, preset.finish),
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
