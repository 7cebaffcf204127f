/**
 * Replaces media by URL with media by value: an `https:` URL in a request is fetched and replaced
 * with base64.
 */

import {
  type Exchange,
  GatewayError,
  type JsonObject,
  type JsonValue,
  type ProviderRequest,
  type SharedValue,
} from "@sluice/contract";
import { type Holder, holderOf } from "@sluice/kit/internals";
import { isObject } from "@sluice/kit";
import { isFetcherConcern } from "./address.ts";
import type { FetchedMedium, MediaFetcher } from "./fetch.ts";
import type { MediaKind } from "./type.ts";

/** Maximum URLs of one request. */
const MAX_MEDIA = 32;
/** Maximum bytes of all media of one request: the maximum of a request with media by value. */
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;

/** A medium by value. */
interface Inlined {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

/** A URL in a request. */
interface Found {
  readonly url: string;
  readonly kind: MediaKind;
  readonly path: string;
}

/** Inlines media into requests. Made once for each provider that fetches. */
export interface MediaInliner extends SharedValue {
  /**
   * The request with its media by value; the same request without media by URL. Rejects as {@link
   * MediaFetcher.fetch} does.
   */
  inline(
    request: ProviderRequest,
    exchange: Pick<Exchange, "signal"> & Partial<Pick<Exchange, "identity">>,
  ): Promise<ProviderRequest>;
}

export function createMediaInliner(fetcher: MediaFetcher): MediaInliner {
  // Another attempt of an exchange reuses the media that the first one fetched.
  const fetched = new WeakMap<object, Map<string, Promise<FetchedMedium>>>();
  return {
    async inline(request, exchange) {
      const { value } = request.document;
      const found = new Map<string, Found>();
      const note: Visit = (url, kind, path) => {
        if (isFetcherConcern(url, fetcher.settings))
          found.set(`${kind} ${url}`, { url, kind, path });
        return undefined;
      };
      changesOf(value, note);
      if (found.size === 0) return request;
      const extra = [...found.values()][MAX_MEDIA];
      if (extra !== undefined) throw refused(extra.path, `more than ${MAX_MEDIA} media by URL`);
      const kept = fetched.get(exchange) ?? new Map<string, Promise<FetchedMedium>>();
      fetched.set(exchange, kept);
      const inlined = await fetchAll(
        found,
        kept,
        fetcher,
        exchange.signal,
        holderOf(exchange.identity),
      );
      const changes = changesOf(value, (url, kind) => inlined.get(`${kind} ${url}`));
      return { ...request, document: request.document.with(changes) };
    },
  };
}

/** Fetches the missing media. The first failure ends the others. */
async function fetchAll(
  found: ReadonlyMap<string, Found>,
  kept: Map<string, Promise<FetchedMedium>>,
  fetcher: MediaFetcher,
  signal: AbortSignal,
  holder: Holder,
): Promise<ReadonlyMap<string, Inlined>> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  let room = MAX_TOTAL_BYTES;
  const inlined = new Map<string, Inlined>();
  const work = [...found].map(async ([key, { url, kind, path }]) => {
    const fetching = kept.get(key) ?? fetcher.fetch(url, kind, path, either, holder);
    kept.set(key, fetching);
    const { mimeType, bytes } = await fetching;
    room -= bytes.length;
    if (room < 0)
      throw refused(path, `media by URL of more than ${MAX_TOTAL_BYTES} bytes together`);
    inlined.set(key, {
      mimeType,
      data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
    });
  });
  try {
    await Promise.all(work);
    return inlined;
  } catch (error) {
    kept.clear();
    failed.abort(error);
    await Promise.allSettled(work);
    throw error;
  }
}

function refused(path: string, what: string): GatewayError {
  return new GatewayError("invalid_field", `${path}: the gateway does not fetch ${what}.`, {
    param: path,
  });
}

/** Receives a URL and returns its replacement; `undefined` keeps it. */
type Visit = (url: string, kind: MediaKind, path: string) => Inlined | undefined;

/** The changed members of a request's body: `messages` of chat, `image` of images. */
function changesOf(body: JsonObject, visit: Visit): JsonObject {
  const { messages, image } = body;
  const changes: Record<string, JsonValue | undefined> = {};
  if (Array.isArray(messages)) {
    const changed = messages.map((message: JsonValue, index) =>
      isObject(message) ? messageOf(message, `messages[${index}]`, visit) : message,
    );
    if (changed.some((message, index) => message !== messages[index])) changes.messages = changed;
  }
  if (image !== undefined) {
    const changed = urlOf(image, "image", "image", visit);
    if (changed !== image) changes.image = changed;
  }
  return changes as JsonObject;
}

function messageOf(message: JsonObject, path: string, visit: Visit): JsonObject {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const changed = content.map((block: JsonValue, index) =>
    isObject(block) ? blockOf(block, `${path}.content[${index}]`, visit) : block,
  );
  return changed.some((block, index) => block !== content[index])
    ? { ...message, content: changed }
    : message;
}

function blockOf(block: JsonObject, path: string, visit: Visit): JsonObject {
  switch (block.type) {
    case "image_url":
      return withMember(
        block,
        "image_url",
        urlOf(block.image_url, "image", `${path}.image_url`, visit),
      );
    case "video_url":
      return withMember(
        block,
        "video_url",
        urlOf(block.video_url, "video", `${path}.video_url`, visit),
      );
    case "file": {
      if (!isObject(block.file) || typeof block.file.file_data !== "string") return block;
      const made = visit(block.file.file_data, "document", `${path}.file.file_data`);
      return made === undefined
        ? block
        : { ...block, file: { ...block.file, file_data: dataUrl(made) } };
    }
    case "image":
    case "document": {
      const { source } = block;
      if (!isObject(source) || source.type !== "url" || typeof source.url !== "string")
        return block;
      const made = visit(source.url, block.type, `${path}.source.url`);
      return made === undefined
        ? block
        : { ...block, source: { type: "base64", media_type: made.mimeType, data: made.data } };
    }
    default:
      return block;
  }
}

/** A URL as a text, or as an object that holds it. */
function urlOf(
  value: JsonValue | undefined,
  kind: MediaKind,
  path: string,
  visit: Visit,
): JsonValue | undefined {
  const url = isObject(value) ? value.url : value;
  if (typeof url !== "string") return value;
  const made = visit(url, kind, isObject(value) ? `${path}.url` : path);
  if (made === undefined) return value;
  return isObject(value) ? { ...value, url: dataUrl(made) } : dataUrl(made);
}

function withMember(block: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  return value === block[name] || value === undefined ? block : { ...block, [name]: value };
}

function dataUrl({ mimeType, data }: Inlined): string {
  return `data:${mimeType};base64,${data}`;
}
