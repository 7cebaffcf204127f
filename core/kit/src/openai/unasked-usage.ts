/**
 * Removes the usage of a stream for a client that did not ask for it. The gateway asks every
 * upstream for it.
 */

import type { JsonDocument, JsonObject } from "@sluice/contract";
import { isObject } from "../json/narrow.ts";

/** The form of an absent usage in a chunk. Inside a string its quotes would have backslashes. */
export const NULL_USAGE = '"usage":null';

/** Whether the client asked for the usage of its stream, or its request is unknown. */
export function asksForUsage(document: JsonDocument | undefined): boolean {
  if (document === undefined) return true;
  const options = document.value.stream_options;
  return isObject(options) && options.include_usage === true;
}

/** The text of a chunk without its `"usage":null`. Every other character stays. */
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
