/** Parts of a conversation as the parts of Gemini's contents (`Part` of @google/genai 2.32.0). */

import {
  type Chat,
  type ContentPart,
  invalidField,
  Members,
  type Part,
  type Refuse,
  type ToolNames,
  type Turn,
} from "@sluice/kit/dialect";
import { isObject, Stages } from "@sluice/kit";
import type { JsonObject } from "@sluice/contract";
import { isThird } from "./models.ts";

/** The common settings of one request's parts. */
export interface PartTerms {
  readonly model: string;
  readonly names: ToolNames.NameMap;
  readonly refuse: Refuse;
  /**
   * Vertex AI requires the type of every file, and takes names of files where the Gemini API does
   * not.
   */
  readonly isVertex: boolean;
}

/**
 * Stands for a signature that the client lost, or that another provider's history never had
 * (ai.google.dev/gemini-api/docs/thought-signatures).
 */
const NO_SIGNATURE = "skip_thought_signature_validator";

/**
 * Where files of the Files API are, whatever the address of the API is (ai.google.dev/api/files,
 * `File.uri`).
 */
const FILES = "https://generativelanguage.googleapis.com/v1beta/files/";

/** Media types by the ending of a path; a URL has no other type. */
const TYPES = Members.table<string>({
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  heic: "image/heic",
  heif: "image/heif",
  gif: "image/gif",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  html: "text/html",
  csv: "text/csv",
  json: "application/json",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
  mpeg: "video/mpeg",
  mpg: "video/mpeg",
  wmv: "video/x-ms-wmv",
  flv: "video/x-flv",
  "3gp": "video/3gpp",
  mp3: "audio/mp3",
  wav: "audio/wav",
});

/**
 * Turns as contents, in stages. A turn of thoughts alone has none: the API gets their signatures
 * with calls and texts.
 */
export function* contentsOf(turns: readonly Turn[], terms: PartTerms): Stages.Of<JsonObject[]> {
  const clock = new Stages.Clock();
  const contents: JsonObject[] = [];
  for (const turn of turns) {
    const parts = yield* partsOfTurn(turn, terms, clock);
    if (parts.length > 0)
      contents.push({ role: turn.role === "assistant" ? "model" : "user", parts });
  }
  return contents;
}

function partsOfTurn(
  { parts }: Turn,
  terms: PartTerms,
  clock: Stages.Clock,
): Stages.Of<JsonObject[]> {
  const isSigned = parts.some(
    (part) => part.kind === "call" && signatureOf(part.extra) !== undefined,
  );
  let isFirstCall = true;
  const made = (part: Part): JsonObject[] => {
    if (part.kind !== "call") return partsOf(part, terms);
    // Of parallel calls the first alone is signed, and must be.
    const missing = isFirstCall && !isSigned && isThird(terms.model) ? NO_SIGNATURE : undefined;
    isFirstCall = false;
    return [callOf(part, missing, terms)];
  };
  return Stages.flatMap(parts, made, clock);
}

function partsOf(part: Exclude<Part, Chat.CallPart>, terms: PartTerms): JsonObject[] {
  return part.kind === "result" ? [resultOf(part, terms)] : contentParts(part, terms);
}

function contentParts(part: ContentPart, terms: PartTerms): JsonObject[] {
  const { refuse, isVertex } = terms;
  switch (part.kind) {
    case "text":
      return [{ text: part.text, ...signed(signatureOf(part.extra)) }];
    case "image":
    case "video":
      return [mediaOf(part.source, part.path, part.kind, terms)];
    case "audio":
      return [{ inlineData: { mimeType: `audio/${part.format}`, data: part.data } }];
    case "document": {
      if (part.context !== undefined) refuse(`${part.path}.context`, "the context of a document");
      if (part.citations !== undefined) refuse(`${part.path}.citations`, "citations of a document");
      const made = mediaOf(part.source, part.path, "document", terms, part.name);
      const inline = made.inlineData;
      // Only Vertex AI has a place for a name.
      if (!isVertex || part.name === undefined || !isObject(inline)) return [made];
      return [{ inlineData: { ...inline, displayName: part.name } }];
    }
    case "thinking":
      // Summaries are for people; what the model remembers by is the signature of the part that
      // followed.
      return [];
    case "native":
      return refuse(part.path, "a block of another API");
    default:
      return part satisfies never;
  }
}

function mediaOf(
  source: Chat.MediaSource,
  path: string,
  kind: string,
  terms: PartTerms,
  name?: string,
): JsonObject {
  switch (source.kind) {
    case "data":
      return { inlineData: { mimeType: source.mimeType, data: source.data } };
    case "text":
      return {
        inlineData: {
          mimeType: "text/plain",
          data: Buffer.from(source.text, "utf8").toString("base64"),
        },
      };
    case "url":
      return fileOf(source.url, path, kind, terms, name);
    case "file": {
      const uri = terms.isVertex ? /^gs:\/\/[^/]+\/./ : /^(?:files\/|https:\/\/)[\w./:-]+$/;
      if (uri.test(source.id))
        return fileOf(source.id.replace(/^files\//, FILES), path, kind, terms, name);
      return terms.refuse(
        path,
        terms.isVertex
          ? "a file that is no gs:// URI"
          : "a file that is not of the Files API (files/…)",
      );
    }
    default:
      return source satisfies never;
  }
}

function fileOf(
  fileUri: string,
  path: string,
  kind: string,
  { refuse, isVertex }: PartTerms,
  name?: string,
): JsonObject {
  const mimeType =
    typeOf(name) ??
    typeOf(fileUri) ??
    (/^https:\/\/(?:www\.)?youtu\.?be/.test(fileUri) ? "video/mp4" : undefined);
  if (mimeType !== undefined) return { fileData: { mimeType, fileUri } };
  if (!isVertex) return { fileData: { fileUri } };
  return refuse(
    path,
    `${kind === "image" ? "an" : "a"} ${kind} by a URL whose ending does not show its type (send a data: URL, or have the operator set fetch_media)`,
  );
}

function typeOf(text: string | undefined): string | undefined {
  const ending =
    text === undefined
      ? undefined
      : /\.([A-Za-z0-9]{2,4})(?:[?#]|$)/.exec(text)?.[1]?.toLowerCase();
  return ending === undefined ? undefined : TYPES[ending];
}

function callOf(
  { id, name, input, extra }: Chat.CallPart,
  missing: string | undefined,
  { model, names }: PartTerms,
): JsonObject {
  return {
    functionCall: { ...(isThird(model) ? { id } : {}), name: names.toUpstream(name), args: input },
    ...signed(signatureOf(extra) ?? missing),
  };
}

function resultOf(part: Chat.ResultPart, terms: PartTerms): JsonObject {
  const { model, names, refuse } = terms;
  if (part.name === undefined)
    throw invalidField(`${part.path}.tool_call_id`, "the id of a call of an earlier message");
  const texts = part.parts.flatMap((each) => (each.kind === "text" ? [each.text] : []));
  const media = part.parts.flatMap((each) => {
    if (each.kind === "text" || each.kind === "thinking") return [];
    if (!isThird(model)) refuse(each.path, `a ${each.kind} in the result of a tool`);
    return contentParts(each, terms);
  });
  return {
    functionResponse: {
      ...(isThird(model) ? { id: part.id } : {}),
      name: names.toUpstream(part.name),
      response: responseOf(texts.join("\n"), part.isError),
      ...(media.length === 0 ? {} : { parts: media }),
    },
  };
}

/**
 * A response is an object. A JSON object is sent unchanged, everything else under `output` or
 * `error`, the API's own keys.
 */
function responseOf(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text };
  return Members.parseExact(text) ?? { output: text };
}

/** The signature in what a client gave back: Google's own shape of it, or LiteLLM's. */
function signatureOf(extra: JsonObject | undefined): string | undefined {
  const google = extra !== undefined && isObject(extra.google) ? extra.google : extra;
  const signature = google?.thought_signature;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}

function signed(signature: string | undefined): JsonObject {
  return signature === undefined ? {} : { thoughtSignature: signature };
}

/** The data that a client sends back for a signature. */
export function givenSignature(part: JsonObject): JsonObject | undefined {
  const { thoughtSignature } = part;
  return typeof thoughtSignature === "string" && thoughtSignature !== ""
    ? { google: { thought_signature: thoughtSignature } }
    : undefined;
}
