/** The providers of a rehearsal: the real translations, whose calls a script answers; and one that is there in every test. */

import type { ErrorReply, Provider, ProviderCatalog, ProviderInstance, ProviderRequest } from "@sluice/spec";
import {
  createChatTranslator,
  decodeChat,
  decodeEmbeddings,
  decodeImages,
  encodeChat,
  encodeEmbeddings,
  encodeImages,
  readErrorReply,
} from "@sluice/kit/openai";
import { CALL_HEADER, type CallBook } from "./call-book.ts";

/** The provider, and the prefix of the models, that every test may use. */
export const TEST_PROVIDER = "sluice-test";

/** Silence is told after so long, whatever the configuration says: a test has little time. */
const SILENCE_MS = 100;
/** Longer than any test. */
const NEVER_MS = 60_000;
const TEST_URL = "https://sluice-test.invalid/v1";

/** The reference dialect: what outcomes are written in, and what the provider of the tests speaks. */
const reference: Provider = {
  capabilities: { operations: ["chat", "embeddings", "images"], streaming: true, tools: true },
  encode(request) {
    const encode = { embeddings: encodeEmbeddings, images: encodeImages }[request.operation as string] ?? encodeChat;
    const headers = { "content-type": "application/json" };
    return { kind: "http", method: "POST", url: `${TEST_URL}/${request.operation}`, headers, body: encode(request).bytes };
  },
  decode(body, request) {
    if (request.operation === "embeddings") return decodeEmbeddings(body, request);
    if (request.operation === "images") return decodeImages(body, request);
    return decodeChat(body, request.replyModel, request);
  },
  stream: (request) => createChatTranslator(request.replyModel, request),
  error: readErrorReply,
  passthrough: ({ method, endpoint, headers, body }) => ({ kind: "http", method, url: `${TEST_URL}/${endpoint}`, headers, body }),
};

/** The catalogue with every provider rehearsing, and the one of the tests. */
export function rehearsingProviders(real: ProviderCatalog, book: CallBook): ProviderCatalog {
  const instances = new Map<string, ProviderInstance>();
  for (const name of real.names()) {
    const instance = real.find(name);
    if (instance !== undefined) instances.set(name, rehearsing(instance, book));
  }
  const timeouts = { connectMs: NEVER_MS, firstByteMs: NEVER_MS, idleMs: NEVER_MS };
  const own = { name: TEST_PROVIDER, use: TEST_PROVIDER, translation: reference, timeouts, connections: 1 };
  instances.set(TEST_PROVIDER, rehearsing(own, book));
  const names = [...instances.keys()];
  return { find: (name) => instances.get(name), names: () => names };
}

function rehearsing(instance: ProviderInstance, book: CallBook): ProviderInstance {
  const { connectMs, firstByteMs, streamFirstByteMs = firstByteMs, idleMs } = instance.timeouts;
  // Where nobody falls silent a test must not fail because the process had something else to do for a tenth of a second.
  const mostMs = book.isSilent ? SILENCE_MS : NEVER_MS;
  const timeouts = {
    connectMs,
    firstByteMs: Math.min(firstByteMs, mostMs),
    streamFirstByteMs: Math.min(streamFirstByteMs, mostMs),
    idleMs: Math.min(idleMs, mostMs),
  };
  // Nothing is asked of anybody: a URL stays what it is.
  const { fetchMedia: _off, ...rest } = instance;
  return { ...rest, translation: scripted(instance.translation, book), timeouts };
}

/** A translation without `authorize`: tokens are fetched from somewhere, and nothing is asked of anybody. */
function scripted(real: Provider, book: CallBook): Provider {
  const reading = (request: ProviderRequest): Provider => (book.isNative(request) ? real : reference);
  const isNativeReply = ({ headers }: ErrorReply): boolean => headers[CALL_HEADER] !== undefined;
  return {
    capabilities: real.capabilities,
    encode(request) {
      const call = real.encode(request);
      if (call.kind === "http") return { ...call, headers: { ...call.headers, [CALL_HEADER]: book.mark(request) } };
      if (!book.isScripted) return book.recordLocal(request, call);
      const { bytes } = request.document;
      return { kind: "http", method: "POST", url: TEST_URL, headers: { [CALL_HEADER]: book.mark(request) }, body: bytes };
    },
    decode: (body, request, headers) => reading(request).decode(body, request, headers),
    stream: (request) => reading(request).stream(request),
    error: (reply) => (isNativeReply(reply) ? real : reference).error(reply),
    ...(real.passthrough === undefined ? {} : { passthrough: real.passthrough.bind(real) }),
  };
}
