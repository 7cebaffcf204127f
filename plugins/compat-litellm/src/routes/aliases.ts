/** LiteLLM's other paths of operations that the gateway has. */

import type { PathAlias } from "@sluice/contract";

const CHAT = "POST /v1/chat/completions";
const EMBEDDINGS = "POST /v1/embeddings";
const IMAGES = "POST /v1/images/generations";

export const ALIASES: readonly PathAlias[] = [
  { route: "POST /chat/completions", of: CHAT },
  { route: "POST /completions", of: CHAT, face: "completions" },
  { route: "POST /v1/completions", of: CHAT, face: "completions" },
  {
    route: "POST /engines/{deployment...}/chat/completions",
    of: "POST /v1/engines/{deployment...}/chat/completions",
  },
  {
    route: "POST /engines/{deployment...}/embeddings",
    of: "POST /v1/engines/{deployment...}/embeddings",
  },
  { route: "POST /embeddings", of: EMBEDDINGS },
  { route: "POST /images/generations", of: IMAGES },
  { route: "POST /messages", of: "POST /v1/messages", face: "messages" },
  { route: "POST /responses", of: "POST /v1/responses", face: "responses" },
  { route: "GET /models", of: "GET /v1/models" },
];
