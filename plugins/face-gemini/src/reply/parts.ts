/** An answer as parts of a content. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members, Reference, ToolNames } from "@sluice/kit/dialect";
import type { State } from "../request/read.ts";
import { type KeptMembers, packed, signatureIn } from "../signatures.ts";

/** A call of an answer, gathered. */
export interface GatheredCall {
  id: string | undefined;
  name: string;
  arguments: string;
  signature: string | undefined;
}

/** The part of a thought. */
export function thoughtPart(text: string): JsonObject {
  return { text, thought: true };
}

/** The part of a text, with Google's own signature where it has one. */
export function textPart(text: string, signature?: string): JsonObject {
  return signature === undefined ? { text } : { text, thoughtSignature: signature };
}

/** Images and Google's own parts of a message or a delta. Blocks of other dialects have a type. */
export function otherParts({ images, provider_blocks: blocks }: JsonObject): readonly JsonObject[] {
  return [
    ...Members.objectsOf(images).flatMap(imageParts),
    ...Members.objectsOf(blocks).filter(({ type }) => type === undefined),
  ];
}

/** An image of a reply is a data URL; one by another URL is a file. */
function imageParts({ image_url: image }: JsonObject): readonly JsonObject[] {
  const url = isObject(image) ? image.url : undefined;
  if (typeof url !== "string") return [];
  const [, mimeType, data] = /^data:([^;,]+)(?:;[^,]*)?,(.*)$/s.exec(url) ?? [];
  return mimeType === undefined || data === undefined
    ? [{ fileData: { fileUri: url } }]
    : [{ inlineData: { mimeType, data } }];
}

/**
 * The parts of calls, at the end of an answer. What the provider needs back goes with the first
 * call, which all clients return; without a call it has an empty text of its own. Throws
 * `upstream_invalid_response` for arguments that hold too much.
 */
export function callParts(
  calls: readonly GatheredCall[],
  kept: KeptMembers | undefined,
  { names }: State,
): readonly JsonObject[] {
  Reference.checkArguments(...calls.map((call) => call.arguments));
  const signature = kept === undefined ? undefined : packed(kept);
  const isFree = calls[0] !== undefined && calls[0].signature === undefined;
  const parts = calls.map((call, index) => {
    const own = call.signature ?? (isFree && index === 0 ? signature : undefined);
    return {
      functionCall: {
        ...(call.id === undefined ? {} : { id: call.id }),
        name: ToolNames.clientName(call.name, names),
        args: argumentsOf(call.arguments),
      },
      ...(own === undefined ? {} : { thoughtSignature: own }),
    };
  });
  return signature === undefined || isFree ? parts : [textPart("", signature), ...parts];
}

/**
 * Arguments are an object. Others stand under `invalid_arguments`, so that the client sees what the
 * model wrote.
 */
function argumentsOf(text: string): JsonValue {
  return text.trim() === "" ? {} : (Members.parseExact(text) ?? { invalid_arguments: text });
}

/** The calls of a whole message. */
export function callsOf({ tool_calls: calls }: JsonObject): readonly GatheredCall[] {
  return Members.objectsOf(calls).map((call) => {
    const made = isObject(call.function) ? call.function : {};
    return {
      id: Members.textIn(call.id),
      name: Members.textIn(made.name) ?? "",
      arguments: Members.textIn(made.arguments) ?? "",
      signature: signatureIn(call),
    };
  });
}
