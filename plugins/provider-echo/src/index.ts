/**
 * @sluice/provider-echo: repeats the last user message, without a network. It is what a first request talks to, and the
 * example of a provider: four pure functions.
 */

import { defineProvider } from "@sluice/kit";
import { createChatTranslator, decodeChat, readErrorReply } from "@sluice/kit/openai";
import type { ProviderRequest } from "@sluice/spec";
import { echoEvents, echoReply } from "./echo.ts";

export default defineProvider<Record<string, never>>({
  name: "echo",
  stability: "stable",
  summary: "Repeats the last user message, word by word when streamed. No network, no key.",
  config: { type: "object", properties: {} },
  create: () => ({
    capabilities: { operations: ["chat"], streaming: true, tools: false },

    // An upstream with a network returns `{ kind: "http", url, headers, body }` here.
    encode: (request: ProviderRequest) => ({
      kind: "local",
      status: 200,
      headers: { "content-type": request.stream ? "text/event-stream" : "application/json" },
      body: request.stream ? echoEvents(request) : [JSON.stringify(echoReply(request))],
    }),

    // The echo answers in the reference dialect, so the kit's own functions read it.
    decode: (body, request) => decodeChat(body, request.replyModel),
    stream: (request) => createChatTranslator(request.replyModel),
    error: readErrorReply,
  }),
});
