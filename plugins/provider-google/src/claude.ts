/**
 * Claude on Vertex AI: Anthropic's messages, in Google's address
 * (platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai).
 */

import { messagesBody } from "@sluice/provider-anthropic/messages";
import type { Stages } from "@sluice/kit";
import type { EncodedCall, NativeDocument, ProviderRequest } from "@sluice/contract";
import type { MethodCall } from "./operations.ts";

/** Stands in the body there, where Anthropic's own API has a header. */
const VERSION = "vertex-2023-10-16";

/** The call of a chat request: the model is in the address, the version in the body. */
export function* claudeCall(
  request: ProviderRequest,
  maxTokens: number | undefined,
): Stages.Of<MethodCall> {
  const { body: made, dropped } = yield* messagesBody(request, maxTokens);
  const { model: _inTheAddress, ...body } = made;
  return {
    method: claudeMethod(request.stream),
    body: { anthropic_version: VERSION, ...body },
    dropped,
  };
}

/** The method, the headers and the body of a client of Anthropic's messages: its own document. */
export function nativeClaude(
  { document, headers }: NativeDocument,
  { stream }: ProviderRequest,
): Pick<EncodedCall, "body" | "headers" | "isNative"> & Pick<MethodCall, "method"> {
  const beta = headers["anthropic-beta"];
  return {
    method: claudeMethod(stream),
    headers: beta === undefined ? {} : { "anthropic-beta": beta },
    body: document.with({ model: undefined, anthropic_version: VERSION }),
    isNative: true,
  };
}

function claudeMethod(stream: boolean): string {
  return stream ? "streamRawPredict" : "rawPredict";
}
