/**
 * @sluice/provider-stability: Stability AI's image API as a provider of images, and as it is for
 * native requests.
 */

import { defineProvider, Option } from "@sluice/kit";
import { Native } from "@sluice/kit/passthrough";
import { GatewayError, type NativeEndpoint, type Secret } from "@sluice/contract";
import { imagesPerCall } from "./models.ts";
import { nativeModel } from "./native-model.ts";
import { decodeImages, readError } from "./reply.ts";
import { encodeImage, PARAMETERS } from "./request.ts";

interface StabilityConfig {
  readonly api_key: Secret;
  readonly base_url: string;
}

/**
 * The endpoints that make an image at once (platform.stability.ai/docs/api-reference);
 * `nativeModel` names their models.
 */
const ENDPOINTS: readonly NativeEndpoint[] = [
  "v1/generation/{engine}/text-to-image",
  "v1/generation/{engine}/image-to-image",
  "v1/generation/{engine}/image-to-image/masking",
  "v2beta/stable-image/generate/{service}",
  "v2beta/stable-image/upscale/{service}",
  "v2beta/stable-image/edit/{service}",
  "v2beta/stable-image/control/{service}",
].map((path) => ({ path, model: "provider", usage: "reported" }));

export default defineProvider<StabilityConfig>({
  name: "stability",
  stability: "beta",
  summary:
    "Stability AI's own API: images by Stable Image, Stable Diffusion 3.5 and engines; and every native path.",
  modelList: "v1/engines/list",
  config: {
    type: "object",
    required: ["api_key"],
    properties: {
      api_key: Option.apiKey("STABILITY_API_KEY"),
      base_url: Option.baseUrl("https://api.stability.ai"),
    },
  },
  create(config) {
    const account = { authorization: config.api_key.map((key) => `Bearer ${key}`) };
    return {
      capabilities: {
        operations: ["images", "passthrough"],
        streaming: false,
        tools: false,
        parameters: PARAMETERS,
        supports: () => false,
        imagesPerCall,
      },
      encode(request) {
        const { path, contentType, body } = encodeImage(request);
        const headers = { "content-type": contentType, accept: "application/json", ...account };
        return { kind: "http", method: "POST", url: `${config.base_url}/${path}`, headers, body };
      },
      decode: decodeImages,
      stream() {
        throw new GatewayError("unsupported_parameter", "The API streams nothing.", {
          param: "stream",
        });
      },
      error: readError,
      passthrough: (request) => Native.call(request, config.base_url, account),
      nativeModel,
      native: {
        root: Native.root(config.base_url),
        endpoints: ENDPOINTS,
        replyHeaders: ["finish-reason", "seed"],
      },
    };
  },
});
