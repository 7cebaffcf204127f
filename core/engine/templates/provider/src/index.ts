/** The provider acme: its options, its address, and which function translates what. */

import { defineProvider } from "@sluice/kit";
import type { Secret } from "@sluice/spec";
import { decodeReply, readError, translateStream } from "./reply.ts";
import { chatBody, PARAMETERS } from "./request.ts";

interface AcmeConfig {
  readonly api_key: Secret;
  readonly base_url: string;
}

export default defineProvider<AcmeConfig>({
  name: "acme",
  stability: "experimental",
  summary: "Chat by the API of Acme, whole and streamed.",
  // What YAML may say under `providers:`. Every key has a description: editors show it, and a test asks for it.
  config: {
    type: "object",
    required: ["api_key"],
    properties: {
      api_key: {
        type: "string",
        "x-secret": true,
        description: "The API key, as a reference: `${env:ACME_API_KEY}`.",
      },
      base_url: {
        type: "string",
        pattern: "^https?://[^/?#]+(/[^?#]*[^/?#])?$",
        default: "https://api.acme.example/v1",
        description: "Where the API lives, without a slash at the end.",
      },
    },
  },
  create(config) {
    // A secret stays one: the transport reveals it as it writes the header.
    const headers = { "content-type": "application/json", "x-acme-key": config.api_key };
    return {
      capabilities: { operations: ["chat"], streaming: true, tools: false, parameters: PARAMETERS },
      encode: (request) => ({
        kind: "http",
        method: "POST",
        url: `${config.base_url}/converse`,
        headers,
        body: JSON.stringify(chatBody(request)),
      }),
      decode: decodeReply,
      stream: translateStream,
      error: readError,
    };
  },
});
