/** The usage that a stream has because the gateway asked for it, taken out for a client that did not. */

import type { JsonDocument, JsonObject } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";

/** How upstreams write the usage of a chunk that has none. Inside of a string its quotes would carry backslashes. */
export const NULL_USAGE = '"usage":null';

/** Whether the client asked for the usage of its stream, or its request is not known. */
export function asksForUsage(document: JsonDocument | undefined): boolean {
  if (document === undefined) return true;
  const options = document.value.stream_options;
  return isObject(options) && options.include_usage === true;
}

/** The text of a chunk without `"usage":null`, which it holds. Every other character stays. */
export function withoutNullUsage(text: string): string {
  const at = text.indexOf(NULL_USAGE);
  const end = at + NULL_USAGE.length;
  if (text[at - 1] === ",") return text.slice(0, at - 1) + text.slice(end);
  return text.slice(0, at) + text.slice(text[end] === "," ? end + 1 : end);
}

/** The chunk without its usage; the same object when it has none. */
export function withoutUsage(chunk: JsonObject): JsonObject {
  if (chunk.usage === undefined) return chunk;
  const { usage: _, ...rest } = chunk;
  return rest;
}
