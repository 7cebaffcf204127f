/** Content parts of messages and of tools' outputs as blocks of the reference dialect. */

import { isObject } from "@sluice/kit";
import { invalidField } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue } from "@sluice/contract";
import type { Notes } from "./notes.ts";
import { shown } from "./refusals.ts";

/** The content of one message. */
export interface Content {
  /** Texts and media in their order. */
  readonly blocks: readonly JsonObject[];
  /** The joined texts of `refusal` parts. */
  readonly refusal: string;
}

const DETAILS = new Set(["auto", "low", "high"]);

/**
 * Reads the content of a message or an output. What has no translation is noted. Throws
 * `invalid_field` for a faulty part.
 */
export function readContent(content: JsonValue | undefined, path: string, notes: Notes): Content {
  if (content === undefined || content === null) return { blocks: [], refusal: "" };
  if (typeof content === "string")
    return { blocks: [{ type: "text", text: content }], refusal: "" };
  if (!Array.isArray(content)) throw invalidField(path, "a string or an array of parts");
  let refusal = "";
  const blocks = (content as readonly JsonValue[]).flatMap((part, index) => {
    const at = `${path}[${index}]`;
    if (!isObject(part)) throw invalidField(at, "an object");
    if (isObject(part.prompt_cache_breakpoint)) notes.drop(`${at}.prompt_cache_breakpoint`);
    if (part.type !== "refusal") return readPart(part, at, notes);
    refusal += textOf(part.refusal, `${at}.refusal`);
    return [];
  });
  return { blocks, refusal };
}

/** One text as a string, everything else as blocks. */
export function plain(blocks: readonly JsonObject[]): string | readonly JsonObject[] {
  const [first] = blocks;
  return blocks.length === 1 && first?.type === "text" && typeof first.text === "string"
    ? first.text
    : blocks;
}

/** The texts of blocks, joined, and the others. */
export function divided(blocks: readonly JsonObject[]): {
  readonly text: string;
  readonly media: readonly JsonObject[];
} {
  const texts = blocks.flatMap(({ type, text }) =>
    type === "text" && typeof text === "string" ? [text] : [],
  );
  return { text: texts.join("\n"), media: blocks.filter(({ type }) => type !== "text") };
}

function readPart(part: JsonObject, path: string, notes: Notes): readonly JsonObject[] {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text":
      return [{ type: "text", text: textOf(part.text, `${path}.text`) }];
    case "input_image":
      return readImage(part, path, notes);
    case "input_file":
      return [readFile(part, path)];
    case "input_audio":
      if (!isObject(part.input_audio)) throw invalidField(`${path}.input_audio`, "an object");
      return [{ type: "input_audio", input_audio: part.input_audio }];
    default:
      if (typeof part.type !== "string") throw invalidField(`${path}.type`, "the type of the part");
      notes.native(path, `a part of type ${shown(part.type)}`);
      notes.items.push(part);
      return [];
  }
}

function readImage(part: JsonObject, path: string, notes: Notes): readonly JsonObject[] {
  const { image_url: url, detail } = part;
  if (typeof url !== "string" || url === "") {
    if (typeof part.file_id !== "string") throw invalidField(`${path}.image_url`, "a URL");
    notes.native(`${path}.file_id`, "an image by the id of its file");
    notes.items.push(part);
    return [];
  }
  const isKnown = typeof detail === "string" && DETAILS.has(detail);
  if (!isKnown && detail !== undefined && detail !== null) notes.drop(`${path}.detail`);
  return [{ type: "image_url", image_url: { url, ...(isKnown ? { detail } : {}) } }];
}

function readFile(part: JsonObject, path: string): JsonObject {
  const { file_data: data, file_id: id, file_url: url, filename } = part;
  const name = typeof filename === "string" ? { filename } : {};
  if (typeof data === "string") return { type: "file", file: { file_data: data, ...name } };
  if (typeof id === "string") return { type: "file", file: { file_id: id, ...name } };
  if (typeof url === "string")
    return {
      type: "document",
      source: { type: "url", url },
      ...(typeof filename === "string" ? { title: filename } : {}),
    };
  throw invalidField(path, "a file with file_data, file_id or file_url");
}

function textOf(value: JsonValue | undefined, path: string): string {
  if (typeof value !== "string") throw invalidField(path, "a string");
  return value;
}
