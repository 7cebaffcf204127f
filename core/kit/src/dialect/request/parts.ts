/** The parts of a message: one form for every block of the reference dialect. */

import { table } from "../../json/table.ts";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import * as Stages from "../../stages.ts";
import { type MediaSource, readBase64, readMediaUrl } from "./data-url.ts";
import { invalidField, type Refuse } from "../refusal.ts";

interface PartBase {
  /** The place in the client's body, for refusals: `messages[0].content[1]`. */
  readonly path: string;
  /**
   * The marker of a cached prefix, in the form of Anthropic's dialect. A hint: a provider without
   * it leaves it out.
   */
  readonly cacheControl?: JsonObject;
}

export interface TextPart extends PartBase {
  readonly kind: "text";
  readonly text: string;
  /** Data that a provider sent with an assistant's text and needs back; see {@link givenBack}. */
  readonly extra?: JsonObject;
}

export interface ImagePart extends PartBase {
  readonly kind: "image";
  readonly source: MediaSource;
  readonly detail?: string;
}

export interface AudioPart extends PartBase {
  readonly kind: "audio";
  /** `wav` or `mp3`. */
  readonly format: string;
  readonly data: string;
}

export interface DocumentPart extends PartBase {
  readonly kind: "document";
  readonly source: MediaSource;
  readonly name?: string;
  readonly context?: string;
  readonly citations?: JsonObject;
}

export interface VideoPart extends PartBase {
  readonly kind: "video";
  readonly source: MediaSource;
}

/**
 * A thought of the model that the client sends back. Without a signature it is an unverified text.
 */
export interface ThinkingPart extends PartBase {
  readonly kind: "thinking";
  readonly text: string;
  readonly signature?: string;
  /** A thought that only the provider can decrypt; `text` is empty. */
  readonly redacted?: string;
}

/**
 * A block of the client's own dialect that the reference dialect has no form for. Only a dialect
 * that says `takesNativeBlocks` gets one.
 */
export interface NativePart extends PartBase {
  readonly kind: "native";
  readonly block: JsonObject;
}

/** A part of a message's content. */
export type ContentPart =
  | NativePart
  | TextPart
  | ImagePart
  | AudioPart
  | DocumentPart
  | VideoPart
  | ThinkingPart;

const NO_CACHE: { readonly cacheControl?: JsonObject } = {};
const NO_EXTRA: { readonly extra?: JsonObject } = {};

/** The cache marker of a block, message or tool. */
export function cacheMarker(value: JsonObject): { readonly cacheControl?: JsonObject } {
  return isObject(value.cache_control) ? { cacheControl: value.cache_control } : NO_CACHE;
}

/**
 * Data that a provider sent with a message or a call and that the client sends back:
 * `extra_content`, the name in Google's layer of the reference dialect, or
 * `provider_specific_fields`, LiteLLM's name.
 */
export function givenBack(value: JsonObject): { readonly extra?: JsonObject } {
  const extra = [value.extra_content, value.provider_specific_fields].find((each) =>
    isObject(each),
  );
  return extra === undefined ? NO_EXTRA : { extra };
}

/**
 * The content of a message as parts, in stages. Empty texts are left out: several providers refuse
 * them.
 */
export function* readContent(
  content: JsonValue | undefined,
  path: string,
  refuse: Refuse,
  { takesNativeBlocks, clock }: ContentTerms,
): Stages.Of<ContentPart[]> {
  if (content === undefined || content === null) return [];
  if (typeof content === "string")
    return content.trim() === "" ? [] : [{ kind: "text", text: content, path }];
  if (!Array.isArray(content)) throw invalidField(path, "a string or an array of blocks");
  const read = (block: JsonValue, index: number): ContentPart[] => {
    const at = `${path}[${index}]`;
    if (!isObject(block)) throw invalidField(at, "an object");
    const isNative = takesNativeBlocks && block.type === "native_block";
    const part = isNative ? readNative(block, at, refuse) : readBlock(block, at, refuse);
    return part.kind === "text" && part.text.trim() === "" ? [] : [part];
  };
  return yield* Stages.flatMap(content as readonly JsonValue[], read, clock);
}

/** What all contents of a conversation are read with. */
interface ContentTerms {
  /** Whether the dialect takes blocks of the client's own. */
  readonly takesNativeBlocks: boolean;
  readonly clock: Stages.Clock;
}

/** Allowed members of a block, by its type. Another member is refused, not dropped. */
const MEMBERS = table<readonly string[]>({
  text: ["text", "citations", "annotations"],
  refusal: ["refusal"],
  image_url: ["image_url"],
  input_audio: ["input_audio"],
  video_url: ["video_url"],
  file: ["file"],
  document: ["source", "title", "context", "citations"],
  image: ["source"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
});

/**
 * Types of blocks that have a form of their own in the reference dialect, or a place of their own.
 */
const OWN_FORMS: ReadonlySet<string> = new Set([
  "text",
  "image",
  "document",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "tool_result",
]);

function readNative(block: JsonObject, path: string, refuse: Refuse): NativePart {
  const own = object(block.native_block, `${path}.native_block`);
  const type = text(own.type, `${path}.native_block.type`);
  if (OWN_FORMS.has(type)) refuse(path, `a block of type ${type} in a native block`);
  return { kind: "native", block: own, path };
}

function readBlock(block: JsonObject, path: string, refuse: Refuse): ContentPart {
  const type = typeof block.type === "string" ? block.type : undefined;
  if (type === undefined) throw invalidField(`${path}.type`, "the type of the block");
  const known = MEMBERS[type] ?? refuse(path, `a block of type ${type.slice(0, 64)}`);
  const unknown = Object.keys(block).find(
    (name) =>
      name !== "type" && name !== "cache_control" && !known.includes(name) && block[name] !== null,
  );
  if (unknown !== undefined) refuse(`${path}.${unknown}`, `the member ${unknown} of a block`);
  return { ...readTyped(type, block, path, refuse), ...cacheMarker(block) };
}

function readTyped(type: string, block: JsonObject, path: string, refuse: Refuse): ContentPart {
  switch (type) {
    case "text":
    case "refusal":
      return { kind: "text", text: text(block[type], `${path}.${type}`), path };
    case "image_url": {
      const image =
        typeof block.image_url === "string"
          ? { url: block.image_url }
          : object(block.image_url, `${path}.image_url`);
      const source = readMediaUrl(image.url, `${path}.image_url.url`);
      return {
        kind: "image",
        source,
        path,
        ...(typeof image.detail === "string" ? { detail: image.detail } : {}),
      };
    }
    case "image":
      return { kind: "image", source: readSource(block.source, `${path}.source`, refuse), path };
    case "input_audio": {
      const audio = object(block.input_audio, `${path}.input_audio`);
      const format = text(audio.format, `${path}.input_audio.format`);
      return {
        kind: "audio",
        format,
        data: readBase64(audio.data, `audio/${format}`, `${path}.input_audio.data`).data,
        path,
      };
    }
    case "video_url": {
      const video =
        typeof block.video_url === "string"
          ? { url: block.video_url }
          : object(block.video_url, `${path}.video_url`);
      return { kind: "video", source: readMediaUrl(video.url, `${path}.video_url.url`), path };
    }
    case "file":
      return readFile(object(block.file, `${path}.file`), path);
    case "document":
      return {
        kind: "document",
        source: readSource(block.source, `${path}.source`, refuse),
        path,
        ...(typeof block.title === "string" ? { name: block.title } : {}),
        ...(typeof block.context === "string" ? { context: block.context } : {}),
        ...(isObject(block.citations) ? { citations: block.citations } : {}),
      };
    case "thinking":
      return readThinking(block, path);
    case "redacted_thinking":
      return readThinking(block, path);
    default:
      return refuse(path, `a block of type ${type}`);
  }
}

/** A file of the reference dialect: an id, or a data URL with a name. */
function readFile(file: JsonObject, path: string): DocumentPart {
  const name = typeof file.filename === "string" ? { name: file.filename } : {};
  if (typeof file.file_id === "string")
    return { kind: "document", source: { kind: "file", id: file.file_id }, path, ...name };
  return {
    kind: "document",
    source: readMediaUrl(file.file_data, `${path}.file.file_data`),
    path,
    ...name,
  };
}

/** A source in the form of Anthropic's dialect: `base64`, `url`, `file` or `text`. */
function readSource(value: JsonValue | undefined, path: string, refuse: Refuse): MediaSource {
  const source = object(value, path);
  switch (source.type) {
    case "base64":
      return readBase64(source.data, text(source.media_type, `${path}.media_type`), `${path}.data`);
    case "url":
      return readMediaUrl(source.url, `${path}.url`);
    case "file":
      return { kind: "file", id: text(source.file_id, `${path}.file_id`) };
    case "text":
      return { kind: "text", text: text(source.data, `${path}.data`) };
    default:
      return refuse(path, `a source of type ${String(source.type).slice(0, 64)}`);
  }
}

/** A thinking block, as `thinking_blocks` of the gateway's reply holds it. */
export function readThinking(block: JsonObject, path: string): ThinkingPart {
  if (block.type === "redacted_thinking")
    return { kind: "thinking", text: "", redacted: text(block.data, `${path}.data`), path };
  const signature =
    typeof block.signature === "string" && block.signature !== ""
      ? { signature: block.signature }
      : {};
  return { kind: "thinking", text: text(block.thinking, `${path}.thinking`), ...signature, path };
}

function text(value: JsonValue | undefined, path: string): string {
  if (typeof value !== "string") throw invalidField(path, "a string");
  return value;
}

function object(value: JsonValue | undefined, path: string): JsonObject {
  if (!isObject(value)) throw invalidField(path, "an object");
  return value;
}
