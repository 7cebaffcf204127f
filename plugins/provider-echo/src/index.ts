/**
 * @sluice/provider-echo: repeats the last user message, and derives vectors and images from the
 * input, without a network. It answers first requests, and is the example of a provider: four pure
 * functions.
 */

import { defineProvider } from "@sluice/kit";
import {
  createChatTranslator,
  decodeChat,
  EmbeddingCalls,
  ImageCalls,
  readErrorReply,
} from "@sluice/kit/openai";
import type { ProviderRequest } from "@sluice/contract";
import { checkBody } from "./echo-bounds.ts";
import { echoEvents, echoReply } from "./echo.ts";
import { echoEmbeddings, echoImages } from "./echo-media.ts";

export default defineProvider<Record<string, never>>({
  name: "echo",
  stability: "stable",
  summary:
    "Repeats the last user message, word by word when streamed; small vectors and a pixel. No network, no key.",
  config: { type: "object", properties: {} },
  create: () => ({
    capabilities: { operations: ["chat", "embeddings", "images"], streaming: true, tools: false },

    // An upstream with a network returns `{ kind: "http", url, headers, body }` here.
    encode(request: ProviderRequest) {
      checkBody(request.document.value);
      return {
        kind: "local",
        status: 200,
        headers: { "content-type": request.stream ? "text/event-stream" : "application/json" },
        body: request.stream ? echoEvents(request) : answer(request),
      };
    },

    // The echo answers in the reference dialect, so the kit's own functions read it.
    decode(body, request) {
      if (request.operation === "embeddings") return EmbeddingCalls.decode(body, request);
      return request.operation === "images"
        ? ImageCalls.decode(body, request)
        : decodeChat(body, request.replyModel, request);
    },
    stream: (request) => createChatTranslator(request.replyModel, request),
    error: readErrorReply,
  }),
});

/** The body in pieces. */
function answer(request: ProviderRequest): Iterable<string> {
  if (request.operation === "embeddings") return echoEmbeddings(request);
  return [
    JSON.stringify(request.operation === "images" ? echoImages(request) : echoReply(request)),
  ];
}
