/**
 * Claude on Vertex AI: Anthropic's messages, in Google's address
 * (platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai).
 */

import { messagesBody } from "@sluice/provider-anthropic/messages";
import type { ProviderRequest } from "@sluice/contract";
import type { MethodCall } from "./operations.ts";

/** Stands in the body there, where Anthropic's own API has a header. */
const VERSION = "vertex-2023-10-16";

/** The call of a chat request: the model is in the address, the version in the body. */
export function claudeCall(request: ProviderRequest, maxTokens: number | undefined): MethodCall {
  const { body: made, dropped } = messagesBody(request, maxTokens);
  const { model: _inTheAddress, ...body } = made;
  return {
    method: request.stream ? "streamRawPredict" : "rawPredict",
    body: { anthropic_version: VERSION, ...body },
    dropped,
  };
}
