/**
 * Embeddings: one entry for each input. Only missing inputs are requested, and the reply is
 * assembled in the inputs' order.
 */

import { SERVED } from "@sluice/runtime";
import { base64ToFloats, piecesDocument } from "@sluice/kit/internals";
import { EmbeddingCalls } from "@sluice/kit/openai";
import { splitVectors } from "@sluice/runtime/openai";
import {
  type Attempt,
  type AttemptWriter,
  type Exchange,
  GatewayError,
  type JsonDocument,
  type JsonValue,
  type Next,
  type StepContext,
  type Usage,
  type WholeReply,
} from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import { CACHE_HEADER, type CacheParts, findEntry, runShared } from "./call.ts";
import { encodeEntry, type Entry, headOf, servedFrom } from "./entry.ts";
import type { FlightResult } from "./single-flight.ts";
import { mayKeep } from "./reply.ts";
import type { CacheDirectives } from "./directives.ts";
import { CanonicalDigest } from "./canonical-digest.ts";

/** One input of a request. */
interface Input {
  readonly value: JsonValue;
  readonly key: string;
  entry: Entry | undefined;
}

/** Answers from stored vectors, and requests the rest. */
export async function runEmbeddings(
  ctx: StepContext,
  next: Next,
  directives: CacheDirectives,
  parts: CacheParts,
): Promise<void> {
  const { exchange } = ctx;
  const { request } = exchange;
  if (request === undefined) return next();
  const base = parts.keys.of(exchange, directives.namespace);
  const inputs = inputsOf(request.document, base);
  if (directives.reads) await findAll(inputs, directives, parts);
  const missing = inputs.filter(({ entry }) => entry === undefined);
  const format: EmbeddingCalls.Format =
    request.document.value.encoding_format === "base64" ? "base64" : "float";
  const isPartial = missing.length < inputs.length;
  if (isPartial) {
    SERVED.set(exchange, servedPart(inputs, exchange, parts));
    exchange.note("cache", "inputs answered from entries:", String(inputs.length - missing.length));
  }
  if (missing.length === 0) {
    exchange.headers.set(CACHE_HEADER, "hit");
    exchange.reply = merged(inputs, [], undefined, exchange, format);
    return;
  }
  const ask = isPartial
    ? { ...request, document: request.document.with({ input: missing.map(({ value }) => value) }) }
    : request;
  let fresh: WholeReply | undefined;
  try {
    await runShared({
      ctx,
      next,
      directives,
      parts,
      key: parts.keys.flightOf(
        exchange,
        base,
        inputs.map(({ key }) => key),
      ),
      ask,
      complete(reply, { usage }) {
        fresh = reply;
        return isPartial ? withKept(reply, usage, inputs, exchange, format) : reply;
      },
      store: ({ attempt }: FlightResult) =>
        fresh === undefined
          ? undefined
          : keepVectors(fresh, missing, attempt, exchange, directives, parts),
    });
  } catch (error) {
    // No stored vector was served.
    SERVED.set(exchange, undefined);
    throw error;
  }
}

function inputsOf({ value: { input } }: JsonDocument, base: string): Input[] {
  // Tokens are one input; every other array holds one input an item.
  const values =
    Array.isArray(input) && typeof input[0] !== "number"
      ? (input as readonly JsonValue[])
      : [input ?? null];
  return values.map((value) => ({
    value,
    key: `${base}:${new CanonicalDigest().value(value).end()}`,
    entry: undefined,
  }));
}

async function findAll(
  inputs: readonly Input[],
  directives: CacheDirectives,
  { host }: CacheParts,
): Promise<void> {
  const { cache } = host.state;
  await Promise.all(
    inputs.map(async (input) => {
      const entry = await findEntry(cache, input.key, directives, host);
      if (entry?.head.form === "float" || entry?.head.form === "base64") input.entry = entry;
    }),
  );
}

/** The joint record of the stored inputs. */
function servedPart(
  inputs: readonly Input[],
  exchange: Exchange,
  { host }: CacheParts,
): AttemptWriter | undefined {
  const kept = inputs.flatMap(({ entry }) => (entry === undefined ? [] : [entry]));
  const [first] = kept;
  if (first === undefined) return undefined;
  const promptTokens = kept.reduce((sum, { head }) => sum + (head.usage?.promptTokens ?? 0), 0);
  const usage: Usage = { promptTokens, completionTokens: 0, totalTokens: promptTokens };
  const usageSource = kept.every(({ head }) => head.usageSource === "provider")
    ? "provider"
    : "estimated";
  const head = { ...first.head, usage, usageSource } as const;
  return servedFrom({ head }, exchange.model, exchange.lifetime.startedAtMs, host.clock.now());
}

/** The reply to all inputs, from the reply to the missing ones. */
function withKept(
  reply: WholeReply,
  usage: Usage | undefined,
  inputs: readonly Input[],
  exchange: Exchange,
  format: EmbeddingCalls.Format,
): WholeReply {
  const vectors = splitVectors(bytesOf(reply.document));
  if (vectors === undefined) {
    throw new GatewayError(
      "upstream_invalid_response",
      "The upstream's vectors cannot be put beside those that are kept.",
    );
  }
  const texts = vectors.texts.map((text) => written(text, vectors.format, format));
  return merged(inputs, texts, usage, exchange, format, true);
}

function merged(
  inputs: readonly Input[],
  fresh: readonly Uint8Array[],
  freshUsage: Usage | undefined,
  exchange: Exchange,
  format: EmbeddingCalls.Format,
  isPartial = false,
): WholeReply {
  const pieces: Uint8Array[] = [];
  let next = 0;
  for (const [index, { entry }] of inputs.entries()) {
    const vector =
      entry === undefined
        ? fresh[next++]
        : written(entry.payload, entry.head.form as EmbeddingCalls.Format, format);
    if (vector === undefined)
      throw new GatewayError("upstream_invalid_response", "The upstream's reply lacks a vector.");
    pieces.push(
      Buffer.from(`${index === 0 ? "" : "},"}{"object":"embedding","index":${index},"embedding":`),
      vector,
    );
  }
  const kept = SERVED.get(exchange)?.usage?.promptTokens ?? 0;
  const isKnown = !isPartial || freshUsage !== undefined;
  const total = kept + (freshUsage?.promptTokens ?? 0);
  const usage = isKnown ? `,"usage":{"prompt_tokens":${total},"total_tokens":${total}}` : "";
  const model = JSON.stringify(exchange.model?.id ?? "");
  return {
    kind: "whole",
    status: 200,
    document: piecesDocument([
      Buffer.from('{"object":"list","data":['),
      ...pieces,
      Buffer.from(`}],"model":${model}${usage}}`),
    ]),
  };
}

/** A vector's text in a format. */
function written(
  text: Uint8Array,
  from: EmbeddingCalls.Format,
  to: EmbeddingCalls.Format,
): Uint8Array {
  if (from === to) return text;
  const value: unknown = parseJson(Buffer.from(text).toString("latin1"));
  const other =
    typeof value === "string"
      ? base64ToFloats(value)
      : EmbeddingCalls.floatsToBase64(value as readonly number[]);
  return Buffer.from(JSON.stringify(other));
}

/** Stores each vector under its input, with its share of the tokens. */
async function keepVectors(
  fresh: WholeReply,
  missing: readonly Input[],
  attempt: Attempt,
  exchange: Exchange,
  directives: CacheDirectives,
  { host, options }: CacheParts,
): Promise<void> {
  if (attempt.usage === undefined || !mayKeep(exchange, attempt, directives)) return;
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
    // For several inputs, only the sum is reported.
    const ownHead = missing.length === 1 ? head : { ...head, usageSource: "estimated" as const };
    const entry = encodeEntry(ownHead, { payload: [vectors.texts[index] ?? ""] });
    return entry.length > options.maxEntryBytes
      ? undefined
      : host.state.cache.set(key, entry, directives.ttlMs, exchange.identity?.keyId);
  });
  if (kept.some((each) => each instanceof Promise)) await Promise.all(kept);
}

/** The tokens of a call by the length of its inputs. The shares add up to the whole. */
function sharesOf(tokens: number, inputs: readonly Input[]): number[] {
  const sizes = inputs.map(({ value }) =>
    typeof value === "string" || Array.isArray(value) ? value.length : 1,
  );
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
