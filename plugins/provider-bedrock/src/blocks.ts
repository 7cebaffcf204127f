/**
 * Parts of a conversation as Converse's content blocks (`ContentBlock` of
 * @aws-sdk/client-bedrock-runtime 3.1162.0).
 */

import {
  type Chat,
  type ContentPart,
  type Part,
  type Refuse,
  ToolNames,
} from "@sluice/kit/dialect";
import { Stages } from "@sluice/kit";
import type { JsonObject } from "@sluice/contract";
import { cachePoints } from "./models.ts";

const IMAGE_FORMATS: Formats = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};
const VIDEO_FORMATS: Formats = {
  "video/x-matroska": "mkv",
  "video/quicktime": "mov",
  "video/mp4": "mp4",
  "video/webm": "webm",
  "video/x-flv": "flv",
  "video/mpeg": "mpeg",
  "video/x-ms-wmv": "wmv",
  "video/3gpp": "three_gp",
};
const DOCUMENT_FORMATS: Formats = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "text/html": "html",
  "text/plain": "txt",
  "text/markdown": "md",
};
/** Ids of calls (the service model: `[a-zA-Z0-9_.:-]+`, 1 to 64). */
const CALL_ID: ToolNames.NameRule = { character: /[a-zA-Z0-9_.:-]/, maxLength: 64 };
/**
 * Names of documents have 200 characters at most, letters, digits, single spaces, hyphens,
 * parentheses and brackets.
 */
const NAME_CHARACTERS = 200;

type Formats = Readonly<Record<string, string>>;

/** Writes the blocks of one request; documents get names that are theirs alone. */
export interface BlockWriter {
  /** The messages, one side after the other, in stages. */
  messages(): Stages.Of<JsonObject[]>;
  system(): JsonObject[];
}

export function createBlockWriter(
  chat: Chat.Request,
  model: string,
  names: ToolNames.NameMap,
): BlockWriter {
  const { refuse } = chat;
  const points = cachePoints(model);
  const documents = new Set<string>();
  const blocksOf = (part: Part): JsonObject[] => {
    switch (part.kind) {
      case "call":
        return [
          {
            toolUse: {
              toolUseId: ToolNames.mapId(part.id, CALL_ID),
              name: names.toUpstream(part.name),
              input: part.input,
            },
          },
        ];
      case "result": {
        const content = part.parts.flatMap((each) => contentBlocks(each, documents, refuse));
        // The default status is left out: not every model supports the member.
        const status = part.isError ? { status: "error" } : {};
        return [
          { toolResult: { toolUseId: ToolNames.mapId(part.id, CALL_ID), content, ...status } },
        ];
      }
      default:
        return contentBlocks(part, documents, refuse);
    }
  };
  const marked = (part: Part, blocks: JsonObject[]): JsonObject[] =>
    points.messages && blocks.length > 0 ? [...blocks, ...cachePoint(part, points.ttl)] : blocks;
  return {
    *messages() {
      const clock = new Stages.Clock();
      const written: { role: string; content: JsonObject[] }[] = [];
      for (const { role, parts } of chat.turns) {
        checkDocuments(parts, refuse);
        const blocks = (part: Part): JsonObject[] => marked(part, blocksOf(part));
        const content = yield* Stages.flatMap(parts, blocks, clock);
        // A turn of unsigned thoughts alone has nothing that the API takes.
        if (content.length === 0) continue;
        const last = written.at(-1);
        if (last?.role === role) for (const each of content) last.content.push(each);
        else written.push({ role, content });
      }
      return written;
    },
    system: () => chat.system.flatMap((part) => marked(part, [{ text: part.text }])),
  };
}

/** The point after a part, up to which the prompt is cached. */
export function cachePoint(
  { cacheControl }: { readonly cacheControl?: JsonObject },
  withTtl: boolean,
): JsonObject[] {
  if (cacheControl === undefined) return [];
  const { ttl } = cacheControl;
  return [
    {
      cachePoint: {
        type: "default",
        ...(withTtl && (ttl === "5m" || ttl === "1h") ? { ttl } : {}),
      },
    },
  ];
}

/** The API requires a text beside a document (`Message.content` of the SDK). */
function checkDocuments(parts: readonly Part[], refuse: Refuse): void {
  const document = parts.find(({ kind }) => kind === "document");
  if (document !== undefined && !parts.some(({ kind }) => kind === "text"))
    refuse(document.path, "a document without a text beside it");
}

function contentBlocks(part: ContentPart, documents: Set<string>, refuse: Refuse): JsonObject[] {
  switch (part.kind) {
    case "text":
      return [{ text: part.text }];
    case "image":
      return [{ image: media(part.source, IMAGE_FORMATS, "image", part.path, refuse) }];
    case "video":
      return [{ video: media(part.source, VIDEO_FORMATS, "video", part.path, refuse) }];
    case "audio":
      return [{ audio: { format: part.format, source: { bytes: part.data } } }];
    case "document":
      return [{ document: documentBlock(part, documents, refuse) }];
    case "thinking":
      if (part.redacted !== undefined)
        return [{ reasoningContent: { redactedContent: part.redacted } }];
      // Only what the model signed is taken back; a thought without a signature belongs to another
      // provider.
      if (part.signature === undefined) return [];
      return [
        { reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } },
      ];
    case "native":
      return refuse(part.path, "a block of another API");
    default:
      return part satisfies never;
  }
}

function media(
  source: Chat.MediaSource,
  formats: Formats,
  what: string,
  path: string,
  refuse: Refuse,
): JsonObject {
  const data = bytesOf(source, what, path, refuse);
  const format =
    formats[data.mimeType] ?? refuse(path, `${article(what)} of type ${data.mimeType}`);
  return { format, source: { bytes: data.data } };
}

function documentBlock(
  part: Chat.DocumentPart,
  documents: Set<string>,
  refuse: Refuse,
): JsonObject {
  const { source, path, context, citations } = part;
  const rest = {
    name: ownName(part.name ?? "document", documents),
    ...(context === undefined ? {} : { context }),
    ...(citations === undefined ? {} : { citations }),
  };
  if (source.kind === "text") {
    return {
      format: "txt",
      source: { bytes: Buffer.from(source.text).toString("base64") },
      ...rest,
    };
  }
  return { ...media(source, DOCUMENT_FORMATS, "document", path, refuse), ...rest };
}

/** A name as the API allows it, and no other document has it. */
function ownName(name: string, taken: Set<string>): string {
  const plain = name
    .replaceAll(/[^A-Za-z0-9\s()[\]-]/g, "-")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, NAME_CHARACTERS);
  const base = plain === "" ? "document" : plain;
  let own = base;
  for (let number = 2; taken.has(own); number++)
    own = `${base.slice(0, NAME_CHARACTERS - 8)} (${number})`;
  taken.add(own);
  return own;
}

function bytesOf(
  source: Chat.MediaSource,
  what: string,
  path: string,
  refuse: Refuse,
): Chat.MediaSource & { readonly kind: "data" } {
  switch (source.kind) {
    case "data":
      return source;
    case "url":
      return refuse(
        path,
        `${article(what)} by URL (send a data: URL, or have the operator set fetch_media)`,
      );
    case "file":
      return refuse(path, `${article(what)} by the id of a file`);
    case "text":
      return refuse(path, `${article(what)} made of text`);
    default:
      return source satisfies never;
  }
}

function article(what: string): string {
  return what === "image" ? "an image" : `a ${what}`;
}
