/**
 * The value of `encrypted_content`: what an upstream needs back of its thoughts. Base64url of a
 * JSON object behind a version. It is not encrypted: a face has no key. Its structure is checked,
 * and an envelope of another origin does not open.
 */

import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue } from "@sluice/contract";

/** The thoughts of one reasoning item. */
export interface Thoughts {
  /** Readable reasoning that no block repeats. */
  readonly text?: string | undefined;
  /** Blocks as the upstream sent them: `{type: "thinking", thinking, signature}`. */
  readonly blocks: readonly JsonObject[];
  /** Data that belongs to calls, by the ids of the calls. */
  readonly calls: readonly (readonly [string, JsonObject])[];
  /** Data that belongs to the text of the answer. */
  readonly extra?: JsonObject | undefined;
}

const PREFIX = "sluice.1.";

/** The maximum characters of an envelope that is opened. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Writes an envelope. */
export function seal({ text, blocks, calls, extra }: Thoughts): string {
  const content = Members.present({
    text,
    blocks: blocks.length === 0 ? undefined : blocks,
    calls: calls.length === 0 ? undefined : (calls as unknown as JsonValue),
    extra,
  });
  return PREFIX + Buffer.from(JSON.stringify(content)).toString("base64url");
}

/** Reads an envelope; `undefined` for every other value. */
export function open(value: JsonValue | undefined): Thoughts | undefined {
  if (typeof value !== "string" || value.length > MAX_CHARACTERS || !value.startsWith(PREFIX))
    return undefined;
  const encoded = value.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, "base64url");
  if (bytes.toString("base64url") !== encoded) return undefined;
  const content = Members.parse(bytes.toString("utf8"));
  if (content === undefined) return undefined;
  const { text, blocks = [], calls = [], extra } = content;
  const isWell =
    (text === undefined || typeof text === "string") &&
    Array.isArray(blocks) &&
    blocks.every(isBlock) &&
    Array.isArray(calls) &&
    calls.every(isCall) &&
    (extra === undefined || isObject(extra));
  return isWell ? thoughtsOf(content) : undefined;
}

function thoughtsOf({ text, blocks, calls, extra }: JsonObject): Thoughts {
  return {
    text: text as string | undefined,
    blocks: (blocks ?? []) as readonly JsonObject[],
    calls: (calls ?? []) as unknown as Thoughts["calls"],
    extra: extra as JsonObject | undefined,
  };
}

function isBlock(block: JsonValue): boolean {
  if (!isObject(block)) return false;
  return block.type === "redacted_thinking"
    ? typeof block.data === "string"
    : block.type === "thinking" && typeof block.thinking === "string";
}

function isCall(pair: JsonValue): boolean {
  return Array.isArray(pair) && typeof pair[0] === "string" && isObject(pair[1]);
}
