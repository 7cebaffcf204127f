/** Texts and media of a request as blocks of the reference dialect. */

import type { JsonObject } from "@sluice/contract";
import { invalidField, Members } from "@sluice/kit/dialect";
import type { Fields } from "./fields.ts";

/** Files of the Files API and of Cloud Storage, which Google's models alone can read. */
const GOOGLE_FILE =
  /^(?:gs:\/\/[^/]+\/.|(?:https:\/\/generativelanguage\.googleapis\.com\/v[0-9a-z]+\/)?files\/)/;
const TYPE = /^([a-z]+)\/([a-z0-9][a-z0-9.+-]*)$/;

/** Endings of names by media type. */
const ENDINGS = Members.table<string>({
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/heic": "heic",
  "image/heif": "heif",
  "image/gif": "gif",
  "application/pdf": "pdf",
  "application/json": "json",
  "text/plain": "txt",
  "text/markdown": "md",
  "text/html": "html",
  "text/csv": "csv",
  "video/mp4": "mp4",
  "video/quicktime": "mov",
  "video/webm": "webm",
  "audio/mp3": "mp3",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
});

/**
 * The block of a text or a medium; none for an empty text, and for a part that only Google's own
 * API can say.
 */
export function blocksOf(part: Fields): readonly JsonObject[] {
  const text = part.text("text");
  const inline = part.object("inlineData");
  const file = part.object("fileData");
  part.notes.drop(part.get("mediaResolution"));
  part.end();
  if (text !== undefined) return text === "" ? [] : [{ type: "text", text }];
  if (inline !== undefined) return [inlineBlock(inline)];
  return file === undefined ? [] : [fileBlock(file)];
}

/** The block of `inlineData`: `{mimeType, data, displayName?}`. */
function inlineBlock(blob: Fields): JsonObject {
  const mimeType = mimeTypeOf(blob);
  const data = blob.text("data");
  const filename = blob.text("displayName");
  blob.end();
  if (mimeType === undefined) throw invalidField(`${blob.path}.mimeType`, "a media type");
  if (data === undefined || data === "") throw invalidField(`${blob.path}.data`, "base64");
  const [, kind = "", format = ""] = TYPE.exec(mimeType) ?? [];
  const url = `data:${mimeType};base64,${standard(data)}`;
  switch (kind) {
    case "image":
      return { type: "image_url", image_url: { url } };
    case "video":
      return { type: "video_url", video_url: { url } };
    case "audio":
      return {
        type: "input_audio",
        input_audio: { data: standard(data), format: audioFormat(format) },
      };
    default:
      return {
        type: "file",
        file: { ...(filename === undefined ? {} : { filename }), file_data: url },
      };
  }
}

/** The block of `fileData`: `{fileUri, mimeType?, displayName?}`. */
function fileBlock(file: Fields): JsonObject {
  const uri = file.text("fileUri");
  const mimeType = mimeTypeOf(file);
  const name = file.text("displayName");
  file.end();
  if (uri === undefined || uri === "") throw invalidField(`${file.path}.fileUri`, "a URI");
  if (GOOGLE_FILE.test(uri)) {
    file.notes.keepNative(file, "a file that Google keeps");
    const filename = name ?? nameOf(mimeType);
    return {
      type: "file",
      file: { file_id: uri, ...(filename === undefined ? {} : { filename }) },
    };
  }
  if (!/^https:\/\//i.test(uri))
    throw invalidField(`${file.path}.fileUri`, "an https: or gs: URI, or a file of the Files API");
  const isVideo = /^https:\/\/(?:www\.)?youtu\.?be/.test(uri);
  switch (isVideo ? "video" : mimeType?.split("/")[0]) {
    case "image":
      return { type: "image_url", image_url: { url: uri } };
    case "video":
      return { type: "video_url", video_url: { url: uri } };
    default: {
      const title = name === undefined ? {} : { title: name };
      return { type: "document", source: { type: "url", url: uri }, ...title };
    }
  }
}

/** A name that shows the type: the reference dialect has no other place for it. */
function nameOf(mimeType: string | undefined): string | undefined {
  const ending = mimeType === undefined ? undefined : ENDINGS[mimeType];
  return ending === undefined ? undefined : `file.${ending}`;
}

function mimeTypeOf(fields: Fields): string | undefined {
  const mimeType = fields.text("mimeType")?.toLowerCase().split(";", 1)[0]?.trim();
  if (mimeType !== undefined && !TYPE.test(mimeType))
    throw invalidField(
      fields.get("mimeType")?.path ?? fields.path,
      "a media type such as image/png",
    );
  return mimeType;
}

/** Base64 in the standard alphabet: the API takes the URL alphabet too. */
function standard(data: string): string {
  return /[-_]/.test(data) ? data.replaceAll("-", "+").replaceAll("_", "/") : data;
}

function audioFormat(subtype: string): string {
  if (subtype === "mpeg") return "mp3";
  return subtype === "x-wav" || subtype === "wave" ? "wav" : subtype;
}
