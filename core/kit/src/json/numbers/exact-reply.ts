/**
 * Documents and frames with numbers as their texts have them, where a step or a face writes them
 * again.
 */

import type { Frame, JsonDocument, JsonObject, JsonValue } from "@sluice/contract";
import { documentOf, writtenDocument } from "../document.ts";
import { isObject } from "../narrow.ts";
import { ExactValues } from "./exact.ts";

/** A document's value with the numbers of its text; the value itself where none differs. */
export function exactValue(document: Pick<JsonDocument, "value" | "bytes">): JsonObject {
  return new ExactValues(document).of(document.value) as JsonObject;
}

/** A document of the same value, without members that its text repeats. */
export function rewritten(document: Pick<JsonDocument, "value" | "bytes">): JsonDocument {
  const { value } = document;
  const written = exactValue(document);
  return written === value ? writtenDocument(value) : documentOf(JSON.stringify(written));
}

/**
 * A frame's chunk with the numbers of its text. A frame without a text has those of its chunk.
 */
export function exactChunk(frame: Frame): JsonObject {
  const { raw } = frame;
  return raw === undefined ? frame.chunk() : exactValue({ value: frame.chunk(), bytes: raw });
}

/** A frame's chunk with such numbers in the blocks that its provider made. */
export function chunkWithBlocks(frame: Frame): JsonObject {
  const chunk = frame.chunk();
  return hasBlocks(chunk) ? withChoices(chunk, exactChunk(frame)) : chunk;
}

/** The same of a whole reply. */
export function replyWithBlocks(document: Pick<JsonDocument, "value" | "bytes">): JsonObject {
  const { value } = document;
  return hasBlocks(value) ? withChoices(value, exactValue(document)) : value;
}

function withChoices(value: JsonObject, { choices }: JsonObject): JsonObject {
  return choices === value.choices ? value : { ...value, choices };
}

function hasBlocks({ choices }: JsonObject): boolean {
  if (!Array.isArray(choices)) return false;
  return (choices as readonly JsonValue[]).some((choice) => {
    const said = isObject(choice) ? (choice.delta ?? choice.message) : undefined;
    return isObject(said) && said.provider_blocks !== undefined;
  });
}
