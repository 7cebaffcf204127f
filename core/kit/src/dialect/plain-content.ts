/**
 * Replies whose content is a list. Some upstreams of the reference dialect send blocks: texts,
 * thoughts, pictures. A face gets them in the members that replies have for them.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../json/narrow.ts";
import { objectsOf } from "./reply.ts";

/** A reply, or a chunk, in which each content is a text; the same object where each is one. */
export function withPlainContents(reply: JsonObject): JsonObject {
  const { choices } = reply;
  if (!Array.isArray(choices) || !choices.some(hasBlocks)) return reply;
  const plain = (choices as readonly JsonValue[]).map((choice) =>
    isObject(choice) ? plainChoice(choice) : choice,
  );
  return { ...reply, choices: plain };
}

function hasBlocks(choice: JsonValue): boolean {
  const said = isObject(choice) ? choice[memberOf(choice)] : undefined;
  return isObject(said) && Array.isArray(said.content);
}

function memberOf(choice: JsonObject): "delta" | "message" {
  return isObject(choice.delta) ? "delta" : "message";
}

function plainChoice(choice: JsonObject): JsonObject {
  const member = memberOf(choice);
  const said = choice[member];
  return isObject(said) && Array.isArray(said.content)
    ? { ...choice, [member]: plainSaid(said, said.content) }
    : choice;
}

/** A delta, or a message, with the blocks of its content in its other members. */
function plainSaid(said: JsonObject, blocks: readonly JsonValue[]): JsonObject {
  const own = { reasoning_content: "", content: "", refusal: "" };
  const images: JsonValue[] = Array.isArray(said.images) ? [...said.images] : [];
  for (const block of blocks) {
    if (typeof block === "string") own.content += block;
    if (!isObject(block)) continue;
    own.content += textIn(block.text);
    own.reasoning_content += textIn(block.thinking);
    own.refusal += textIn(block.refusal);
    if (block.image_url !== undefined) images.push(block);
  }
  const kept: Record<string, JsonValue | undefined> = { ...said, content: own.content };
  for (const name of ["reasoning_content", "refusal"] as const)
    if (own[name] !== "") kept[name] = textIn(said[name]) + own[name];
  if (images.length > 0) kept.images = images;
  return kept;
}

/** A text; the texts of a list of blocks, joined. */
function textIn(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  return objectsOf(value)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}
