/** Embeddings: an entry for each input. Only what is not kept is asked for, and the reply is put together in the inputs' order. */

import { piecesDocument } from "@sluice/kit";
import { base64ToFloats, type EmbeddingFormat, floatsToBase64, splitVectors } from "@sluice/kit/openai";
import {
  type Attempt,
  type Exchange,
  GatewayError,
  type JsonDocument,
  type JsonValue,
  type Next,
  type StepContext,
  type Usage,
  type WholeReply,
} from "@sluice/spec";
import { CACHE_HEADER, type CacheParts, findEntry, runShared } from "./cache-call.ts";
import { encodeEntry, type Entry, headOf, servedFrom } from "./cache-entry.ts";
import type { Landing } from "./cache-flight.ts";
import { flightKey } from "./cache-key.ts";
import { mayKeep } from "./cache-reply.ts";
import type { CacheWish } from "./cache-wish.ts";
import { CanonicalDigest } from "./canonical-digest.ts";

/** One input of a request. */
interface Input {
  readonly value: JsonValue;
  readonly key: string;
  entry: Entry | undefined;
}

/** Answers from what is kept, and asks for the rest. */
export async function runEmbeddings(ctx: StepContext, next: Next, wish: CacheWish, parts: CacheParts): Promise<void> {
  const { exchange } = ctx;
  const { request } = exchange;
  if (request === undefined) return next();
  const base = parts.keys.of(exchange, wish.namespace);
  const inputs = inputsOf(request.document, base);
  if (wish.reads) await findAll(inputs, wish, parts);
  const missing = inputs.filter(({ entry }) => entry === undefined);
  const format: EmbeddingFormat = request.document.value.encoding_format === "base64" ? "base64" : "float";
  const isPartial = missing.length < inputs.length;
  if (isPartial) {
    exchange.served = servedPart(inputs, exchange, parts);
    exchange.note("cache", "inputs answered from entries:", String(inputs.length - missing.length));
  }
  if (missing.length === 0) {
    exchange.headers.set(CACHE_HEADER, "hit");
    exchange.reply = merged(inputs, [], undefined, exchange, format);
    return;
  }
  const ask = isPartial ? { ...request, document: request.document.with({ input: missing.map(({ value }) => value) }) } : request;
  let fresh: WholeReply | undefined;
  try {
    await runShared({
      ctx,
      next,
      wish,
      parts,
      key: flightKey(
        base,
        request,
        inputs.map(({ key }) => key),
      ),
      ask,
      complete(reply, { usage }) {
        fresh = reply;
        return isPartial ? withKept(reply, usage, inputs, exchange, format) : reply;
      },
      store: ({ attempt }: Landing) =>
        fresh === undefined ? undefined : keepVectors(fresh, missing, attempt, exchange, wish, parts),
    });
  } catch (error) {
    // What was kept went to nobody.
    exchange.served = undefined;
    throw error;
  }
}

function inputsOf({ value: { input } }: JsonDocument, base: string): Input[] {
  // Tokens are one input; every other array holds one input an item.
  const values = Array.isArray(input) && typeof input[0] !== "number" ? (input as readonly JsonValue[]) : [input ?? null];
  return values.map((value) => ({ value, key: `${base}:${new CanonicalDigest().value(value).end()}`, entry: undefined }));
}

async function findAll(inputs: readonly Input[], wish: CacheWish, { host }: CacheParts): Promise<void> {
  const { cache } = host.state;
  await Promise.all(
    inputs.map(async (input) => {
      const entry = await findEntry(cache, input.key, wish, host);
      if (entry?.head.form === "float" || entry?.head.form === "base64") input.entry = entry;
    }),
  );
}

/** The record of the inputs that were kept, summed up. */
function servedPart(inputs: readonly Input[], exchange: Exchange, { host }: CacheParts): Attempt | undefined {
  const kept = inputs.flatMap(({ entry }) => (entry === undefined ? [] : [entry]));
  const [first] = kept;
  if (first === undefined) return undefined;
  const promptTokens = kept.reduce((sum, { head }) => sum + (head.usage?.promptTokens ?? 0), 0);
  const usage: Usage = { promptTokens, completionTokens: 0, totalTokens: promptTokens };
  const usageSource = kept.every(({ head }) => head.usageSource === "provider") ? "provider" : "estimated";
  return { ...servedFrom(first, exchange.model, exchange.startedAtMs, host.clock.now()), usage, usageSource };
}

/** The reply to all inputs, out of the reply to those that were not kept. */
function withKept(
  reply: WholeReply,
  usage: Usage | undefined,
  inputs: readonly Input[],
  exchange: Exchange,
  format: EmbeddingFormat,
): WholeReply {
  const vectors = splitVectors(bytesOf(reply.document));
  if (vectors === undefined) {
    throw new GatewayError("upstream_invalid_response", "The upstream's vectors cannot be put beside those that are kept.");
  }
  const texts = vectors.texts.map((text) => written(text, vectors.format, format));
  return merged(inputs, texts, usage, exchange, format, true);
}

function merged(
  inputs: readonly Input[],
  fresh: readonly Uint8Array[],
  freshUsage: Usage | undefined,
  exchange: Exchange,
  format: EmbeddingFormat,
  isPartial = false,
): WholeReply {
  const pieces: Uint8Array[] = [];
  let next = 0;
  for (const [index, { entry }] of inputs.entries()) {
    const vector = entry === undefined ? fresh[next++] : written(entry.payload, entry.head.form as EmbeddingFormat, format);
    if (vector === undefined) throw new GatewayError("upstream_invalid_response", "The upstream's reply lacks a vector.");
    pieces.push(Buffer.from(`${index === 0 ? "" : "},"}{"object":"embedding","index":${index},"embedding":`), vector);
  }
  const kept = exchange.served?.usage?.promptTokens ?? 0;
  const isKnown = !isPartial || freshUsage !== undefined;
  const total = kept + (freshUsage?.promptTokens ?? 0);
  const usage = isKnown ? `,"usage":{"prompt_tokens":${total},"total_tokens":${total}}` : "";
  const model = JSON.stringify(exchange.model?.id ?? "");
  return {
    kind: "whole",
    status: 200,
    document: piecesDocument([Buffer.from('{"object":"list","data":['), ...pieces, Buffer.from(`}],"model":${model}${usage}}`)]),
  };
}

/** A vector's text in a format. */
function written(text: Uint8Array, from: EmbeddingFormat, to: EmbeddingFormat): Uint8Array {
  if (from === to) return text;
  const value: unknown = JSON.parse(Buffer.from(text).toString("latin1"));
  const other = typeof value === "string" ? base64ToFloats(value) : floatsToBase64(value as readonly number[]);
  return Buffer.from(JSON.stringify(other));
}

/** Keeps each vector under its input, with its share of the tokens. */
async function keepVectors(
  fresh: WholeReply,
  missing: readonly Input[],
  attempt: Attempt,
  exchange: Exchange,
  wish: CacheWish,
  { host, options }: CacheParts,
): Promise<void> {
  if (attempt.usage === undefined || !mayKeep(exchange, attempt, wish)) return;
  const vectors = splitVectors(bytesOf(fresh.document));
  if (vectors?.texts.length !== missing.length) return;
  const storedAtMs = host.clock.now();
  const shares = sharesOf(attempt.usage.promptTokens, missing);
  const kept = missing.map(({ key }, index) => {
    const promptTokens = shares[index] ?? 0;
    const head = headOf(
      { ...attempt, usage: { promptTokens, completionTokens: 0, totalTokens: promptTokens } },
      { form: vectors.format, storedAtMs, status: 200 },
    );
    // Of several inputs only the sum was told.
    const entry = encodeEntry(missing.length === 1 ? head : { ...head, usageSource: "estimated" }, [vectors.texts[index] ?? ""]);
    return entry.length > options.maxEntryBytes
      ? undefined
      : host.state.cache.set(key, entry, wish.ttlMs, exchange.identity?.keyId);
  });
  if (kept.some((each) => each instanceof Promise)) await Promise.all(kept);
}

/** The tokens of a call by the length of its inputs. The shares add up to the whole. */
function sharesOf(tokens: number, inputs: readonly Input[]): number[] {
  const sizes = inputs.map(({ value }) => (typeof value === "string" || Array.isArray(value) ? value.length : 1));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let size = 0;
  let given = 0;
  return sizes.map((each) => {
    size += each;
    const share = Math.round((tokens * size) / total) - given;
    given += share;
    return share;
  });
}

function bytesOf({ bytes }: JsonDocument): Uint8Array {
  return typeof bytes === "string" ? Buffer.from(bytes) : bytes;
}
