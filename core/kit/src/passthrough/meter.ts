/** Reads the usage of a native reply while its bytes go by, untouched. */

import type { Usage } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { createStreamReader } from "../stream/reader.ts";
import { Gathered } from "../transport/gathered.ts";
import { BEDROCK_METRICS, joinUsage, pieces, readNativeUsage } from "./native-usage.ts";

/** Looks at bytes that go by. A reply that cannot be read has no usage; that is no failure. */
export interface UsageMeter {
  push(chunk: Uint8Array): void;
  /** The usage, once the reply has ended. */
  end(): Usage | undefined;
}

/** A JSON reply larger than this is not looked into: it would have to be kept whole. */
const MAX_JSON_BYTES = 8 * 1024 * 1024;

/**
 * A meter for a content type. Types that carry no usage are not looked at. A bare image is one that was made where the reply
 * says how it ended (`finish-reason`, Stability's header); any other is a file that somebody fetched.
 */
export function createUsageMeter(contentType: string | undefined, finishReason?: string): UsageMeter {
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type.startsWith("image/") && finishReason !== undefined) {
    return { push() {}, end: () => pieces(finishReason === "SUCCESS" ? 1 : 0) };
  }
  const meter = createStreamMeter(type);
  if (meter !== undefined) return meter;
  if (type === "application/json" || type.endsWith("+json")) return createJsonMeter();
  return { push() {}, end: () => undefined };
}

function createStreamMeter(type: string): UsageMeter | undefined {
  let usage: Usage | undefined;
  let isReadable = true;
  const reader = createStreamReader(type, ({ data }) => {
    const text = innerText(data);
    // "usage", "usageMetadata" and Bedrock's metrics are the only fields looked for; most events have none of them.
    if (!text.includes('"usage') && !text.includes(BEDROCK_METRICS)) return;
    const found = usageOf(text);
    if (found !== undefined) usage = joinUsage(usage, found);
  });
  if (reader === undefined) return undefined;
  const guarded = (read: () => void): void => {
    if (!isReadable) return;
    try {
      read();
    } catch {
      // An event over the bound: the bytes still go by, and what was read so far counts.
      isReadable = false;
    }
  };
  return {
    push: (chunk) => guarded(() => reader.push(chunk)),
    end() {
      guarded(() => reader.end());
      return usage;
    },
  };
}

/** A chunk of Bedrock's InvokeModelWithResponseStream holds the model's own event as base64. */
const CHUNK_START = '{"bytes":"';

function innerText(data: string): string {
  if (!data.startsWith(CHUNK_START)) return data;
  const end = data.indexOf('"', CHUNK_START.length);
  return Buffer.from(data.slice(CHUNK_START.length, end), "base64").toString("utf8");
}

function createJsonMeter(): UsageMeter {
  let gathered: Gathered | undefined = new Gathered();
  return {
    push(chunk) {
      gathered?.push(chunk);
      if (gathered !== undefined && gathered.length > MAX_JSON_BYTES) gathered = undefined;
    },
    end: () => (gathered === undefined ? undefined : usageOf(textOf(gathered.take()))),
  };
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("utf8");
}

function usageOf(text: string): Usage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Gemini streams an array of replies where no event stream was asked for.
  const last: unknown = Array.isArray(value) ? value.at(-1) : value;
  return isObject(last) ? readNativeUsage(last) : undefined;
}
