/**
 * The providers of a sandbox: the real translations with scripted upstreams, and the provider that
 * every test has.
 */

import type {
  ErrorReply,
  Provider,
  ProviderCatalog,
  ProviderInstance,
  ProviderRequest,
} from "@sluice/contract";
import {
  createChatTranslator,
  decodeChat,
  EmbeddingCalls,
  ImageCalls,
  readErrorReply,
} from "@sluice/kit/openai";
import { encodeChat, encodeImages } from "@sluice/kit/internals";
import { CALL_HEADER, type ScriptedUpstreamLog } from "./upstream-log.ts";

/** Name of the provider, and prefix of the models, that every test can use. */
export const TEST_PROVIDER = "sluice-test";

/** Timeout of a silent upstream. It overrides the configuration, because a test has little time. */
const SILENCE_MS = 100;
/** Longer than any test. */
const NEVER_MS = 60_000;
const TEST_URL = "https://sluice-test.invalid/v1";

/** The reference dialect: outcomes are written in it, and the provider of the tests uses it. */
const reference: Provider = {
  capabilities: { operations: ["chat", "embeddings", "images"], streaming: true, tools: true },
  encode(request) {
    const encode =
      { embeddings: EmbeddingCalls.encode, images: encodeImages }[request.operation as string] ??
      encodeChat;
    const headers = { "content-type": "application/json" };
    return {
      kind: "http",
      method: "POST",
      url: `${TEST_URL}/${request.operation}`,
      headers,
      body: encode(request).bytes,
    };
  },
  decode(body, request) {
    if (request.operation === "embeddings") return EmbeddingCalls.decode(body, request);
    if (request.operation === "images") return ImageCalls.decode(body, request);
    return decodeChat(body, request.replyModel, request);
  },
  stream: (request) => createChatTranslator(request.replyModel, request),
  error: readErrorReply,
  passthrough: ({ method, endpoint, headers, body }) => ({
    kind: "http",
    method,
    url: `${TEST_URL}/${endpoint}`,
    headers,
    body,
  }),
};

/** The catalogue with every provider scripted, and the provider of the tests. */
export function sandboxProviders(
  real: ProviderCatalog,
  upstreamLog: ScriptedUpstreamLog,
): ProviderCatalog {
  const instances = new Map<string, ProviderInstance>();
  for (const name of real.names()) {
    const instance = real.find(name);
    if (instance !== undefined) instances.set(name, sandboxed(instance, upstreamLog));
  }
  const timeouts = { connectMs: NEVER_MS, firstByteMs: NEVER_MS, idleMs: NEVER_MS };
  const own = {
    name: TEST_PROVIDER,
    use: TEST_PROVIDER,
    translation: reference,
    timeouts,
    connections: 1,
  };
  instances.set(TEST_PROVIDER, sandboxed(own, upstreamLog));
  const names = [...instances.keys()];
  return { find: (name) => instances.get(name), names: () => names };
}

function sandboxed(instance: ProviderInstance, upstreamLog: ScriptedUpstreamLog): ProviderInstance {
  const { connectMs, firstByteMs, streamFirstByteMs = firstByteMs, idleMs } = instance.timeouts;
  // Without a silent upstream, a busy process must not fail the test: it gets the long timeout.
  const maxMs = upstreamLog.isSilent ? SILENCE_MS : NEVER_MS;
  const timeouts = {
    connectMs,
    firstByteMs: Math.min(firstByteMs, maxMs),
    streamFirstByteMs: Math.min(streamFirstByteMs, maxMs),
    idleMs: Math.min(idleMs, maxMs),
  };
  // The sandbox fetches no media: URLs stay unchanged.
  const { fetchMedia: _off, ...rest } = instance;
  return { ...rest, translation: scripted(instance.translation, upstreamLog), timeouts };
}

/** A translation without `authorize`: the sandbox fetches no tokens. */
function scripted(real: Provider, upstreamLog: ScriptedUpstreamLog): Provider {
  const reading = (request: ProviderRequest): Provider =>
    upstreamLog.isNative(request) ? real : reference;
  const isNativeReply = ({ headers }: ErrorReply): boolean => headers[CALL_HEADER] !== undefined;
  return {
    capabilities: real.capabilities,
    encode(request) {
      const call = real.encode(request);
      if (call.kind === "http")
        return { ...call, headers: { ...call.headers, [CALL_HEADER]: upstreamLog.mark(request) } };
      if (!upstreamLog.isScripted) return upstreamLog.recordLocal(request, call);
      const { bytes } = request.document;
      return {
        kind: "http",
        method: "POST",
        url: TEST_URL,
        headers: { [CALL_HEADER]: upstreamLog.mark(request) },
        body: bytes,
      };
    },
    decode: (body, request, headers) => reading(request).decode(body, request, headers),
    stream: (request) => reading(request).stream(request),
    error: (reply) => (isNativeReply(reply) ? real : reference).error(reply),
    ...(real.passthrough === undefined ? {} : { passthrough: real.passthrough.bind(real) }),
  };
}
