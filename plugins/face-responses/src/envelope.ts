/**
 * The value of `encrypted_content`: what an upstream needs back of its thoughts. The gateway seals
 * it for the key of the request and the deployment that answers. Its structure is checked, and an
 * envelope of another origin does not open.
 */

import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import type { FaceContext, FaceMeans, JsonObject, JsonValue } from "@sluice/contract";

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
  /** An upstream's own text for its next request, in the place of all others. */
  readonly native?: string;
  /** The deployment that they were sealed for. Absent: they were not sealed. */
  readonly deployment?: string;
}

const PREFIX = "sluice.2.";

/** The maximum characters of an envelope that is opened. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Whether a value is an envelope of a gateway, opened or not. */
export function isEnvelope(value: JsonValue | undefined): boolean {
  return typeof value === "string" && value.startsWith(PREFIX);
}

/** Writes an envelope. */
export function seal(
  { text, blocks, calls, extra }: Thoughts,
  context: Pick<FaceContext, "seal">,
): string {
  const content = Members.present({
    text,
    blocks: blocks.length === 0 ? undefined : blocks,
    calls: calls.length === 0 ? undefined : (calls as unknown as JsonValue),
    extra,
  });
  return PREFIX + context.seal(JSON.stringify(content));
}

/** Writes an envelope of an upstream's own `encrypted_content`. */
export function sealNative(native: string, context: Pick<FaceContext, "seal">): string {
  return PREFIX + context.seal(JSON.stringify({ native }));
}

/** Reads an envelope; `undefined` for every other value. */
export function open(value: JsonValue | undefined, means: FaceMeans): Thoughts | undefined {
  if (typeof value !== "string" || value.length > MAX_CHARACTERS || !value.startsWith(PREFIX))
    return undefined;
  const sealed = means.open(value.slice(PREFIX.length));
  const content = sealed === undefined ? undefined : Members.parse(sealed.text);
  if (sealed === undefined || content === undefined) return undefined;
  const { text, blocks = [], calls = [], extra, native } = content;
  const isWell =
    (native === undefined || typeof native === "string") &&
    (text === undefined || typeof text === "string") &&
    Array.isArray(blocks) &&
    blocks.every(isBlock) &&
    Array.isArray(calls) &&
    calls.every(isCall) &&
    (extra === undefined || isObject(extra));
  return isWell ? { ...thoughtsOf(content), deployment: sealed.deployment } : undefined;
}

function thoughtsOf({ text, blocks, calls, extra, native }: JsonObject): Thoughts {
  return {
    ...(typeof native === "string" ? { native } : {}),
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
