/** Content blocks of a user's message and of a tool's result. */

import type { JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import { array, isSet, marker, type Notes, object, string, unknownMembers } from "./fields.ts";

/** A content part of the reference dialect. */
export type ReadBlock = JsonObject;

const MEMBERS = Members.table<readonly string[]>({
  text: ["type", "text", "cache_control", "citations"],
  image: ["type", "source", "cache_control"],
  document: ["type", "source", "title", "context", "citations", "cache_control"],
  search_result: ["type", "source", "title", "content", "citations", "cache_control"],
});

/** A block as parts. One without a form in the reference dialect is wrapped, and noted. */
export function contentBlocks(block: JsonObject, path: string, notes: Notes): ReadBlock[] {
  const type = string(block.type, `${path}.type`);
  const known = MEMBERS[type];
  if (known === undefined) return [nativeBlock(block, path, notes)];
  const unknown = unknownMembers(block, known);
  for (const each of unknown)
    notes.native(`${path}.${each}`, `the member ${each.slice(0, 64)} of a block`);
  const kept = Object.fromEntries(unknown.map((each) => [each, block[each]]));
  const read =
    type === "text"
      ? textBlock(block, path, notes)
      : type === "image"
        ? imageBlock(block, path, notes)
        : type === "document"
          ? documentBlock(block, path, notes)
          : searchResult(block, path, notes);
  return [{ ...read, ...kept }];
}

/** A block that only the client's own dialect has, wrapped: translators refuse the wrapper. */
export function nativeBlock(block: JsonObject, path: string, notes: Notes): JsonObject {
  notes.native(path, `a block of type ${String(block.type).slice(0, 64)}`);
  return { type: "native_block", native_block: block };
}

/** A text. The sources of an earlier reply have no place in the reference dialect. */
export function textBlock(block: JsonObject, path: string, notes: Notes): JsonObject {
  const { citations } = block;
  if (isSet(citations) && !(Array.isArray(citations) && citations.length === 0))
    notes.drop(`${path}.citations`);
  return { type: "text", text: string(block.text, `${path}.text`), ...marker(block, path) };
}

function imageBlock(block: JsonObject, path: string, notes: Notes): JsonObject {
  const source = object(block.source, `${path}.source`);
  const mark = marker(block, path);
  switch (source.type) {
    case "base64": {
      const type = string(source.media_type, `${path}.source.media_type`);
      const data = string(source.data, `${path}.source.data`);
      return { type: "image_url", image_url: { url: `data:${type};base64,${data}` }, ...mark };
    }
    case "url":
      return {
        type: "image_url",
        image_url: { url: string(source.url, `${path}.source.url`) },
        ...mark,
      };
    case "file":
      return { type: "image", source, ...mark };
    default:
      notes.native(`${path}.source`, `a source of type ${String(source.type).slice(0, 64)}`);
      return { type: "image", source, ...mark };
  }
}

/**
 * A PDF without options is a file of the reference dialect; everything else is a document block.
 */
function documentBlock(block: JsonObject, path: string, notes: Notes): JsonObject {
  const source = object(block.source, `${path}.source`);
  const { title, context, citations } = block;
  const named = isSet(title) ? string(title, `${path}.title`) : undefined;
  const isPlain = !isSet(context) && !isSet(citations);
  const mark = marker(block, path);
  const about = Members.present({
    title: named,
    context: isSet(context) ? string(context, `${path}.context`) : undefined,
    citations: isSet(citations) ? object(citations, `${path}.citations`) : undefined,
  });
  if (source.type === "base64" && isPlain) {
    const type = string(source.media_type, `${path}.source.media_type`);
    const data = string(source.data, `${path}.source.data`);
    const file = { file_data: `data:${type};base64,${data}` };
    return {
      type: "file",
      file: { ...(named === undefined ? {} : { filename: named }), ...file },
      ...mark,
    };
  }
  if (source.type === "content") {
    const text = textOf(source, `${path}.source`, notes);
    const cites = isObject(citations) && citations.enabled === true;
    if (text === undefined || cites) {
      notes.native(`${path}.source`, "a source of type content");
      return { type: "document", source, ...about, ...mark };
    }
    return { type: "document", source: plainText(text), ...about, ...mark };
  }
  if (!["base64", "text", "url", "file"].includes(String(source.type)))
    notes.native(`${path}.source`, `a source of type ${String(source.type).slice(0, 64)}`);
  return { type: "document", source, ...about, ...mark };
}

/** The text of a source of blocks; `undefined` where it holds more than texts. */
function textOf({ content }: JsonObject, path: string, notes: Notes): string | undefined {
  if (typeof content === "string") return content;
  const blocks = array(content, `${path}.content`);
  const texts = blocks.flatMap((each, index) => {
    const block = object(each, `${path}.content[${index}]`);
    if (block.type !== "text") return [];
    return [string(textBlock(block, `${path}.content[${index}]`, notes).text, path)];
  });
  return texts.length === blocks.length ? texts.join("\n\n") : undefined;
}

/** A result of a search of the client's own: a document of its texts. */
function searchResult(block: JsonObject, path: string, notes: Notes): JsonObject {
  const { citations } = block;
  const text = textOf({ content: array(block.content, `${path}.content`) }, path, notes);
  if (text === undefined || (isObject(citations) && citations.enabled === true))
    return nativeBlock(block, path, notes);
  return {
    type: "document",
    source: plainText(text),
    title: string(block.title, `${path}.title`),
    context: string(block.source, `${path}.source`),
    ...marker(block, path),
  };
}

function plainText(data: string): JsonObject {
  return { type: "text", media_type: "text/plain", data };
}
