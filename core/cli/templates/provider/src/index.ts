/** The provider acme: options, address, translation. */

import { defineProvider, writtenDocument } from "@sluice/kit";
import type { Secret } from "@sluice/contract";
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
  // The options under `providers:` in YAML. Every key has a description: editors show it, and a
  // test requires it.
  config: {
    type: "object",
    required: ["api_key"],
    properties: {
      api_key: {
        type: "string",
        "x-secret": true,
        description: "The API key: `${env:ACME_API_KEY}`.",
      },
      base_url: {
        type: "string",
        pattern: "^https?://[^/?#]+(/[^?#]*[^/?#])?$",
        default: "https://api.acme.example/v1",
        description: "The base address of the API, without a trailing slash.",
      },
    },
  },
  create(config) {
    // The key stays a `Secret`: only the transport reveals it, when it writes the header.
    const headers = {
      "content-type": "application/json",
      "x-acme-key": config.api_key,
    };
    return {
      capabilities: { operations: ["chat"], streaming: true, tools: false, parameters: PARAMETERS },
      encode: (request) => ({
        kind: "http",
        method: "POST",
        url: `${config.base_url}/converse`,
        headers,
        // The gateway writes it: a large one in slices, so that other requests do not wait for it.
        body: writtenDocument(chatBody(request)),
      }),
      decode: decodeReply,
      stream: translateStream,
      error: readError,
    };
  },
});
