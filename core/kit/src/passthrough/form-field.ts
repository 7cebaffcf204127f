/**
 * Reads text fields of a form body (`multipart/form-data`, RFC 7578 and RFC 2046 5.1) without
 * parsing the form.
 */

import { GatewayError, type JsonObject, type PassthroughRequest } from "@sluice/contract";
import { isObject } from "../json/narrow.ts";
import { putMember } from "../json/parse.ts";

const MAX_FIELDS = 256;
/** The headers of a part. */
const MAX_HEADER_BYTES = 4_096;
/** The maximum length of a field's value: names are short. */
const MAX_VALUE_BYTES = 256;
/** The maximum length of a text that may be an id or an address. */
const MAX_TEXT_BYTES = 4_096;

/** One boundary, in one of the two forms that clients write. */
const BOUNDARY =
  /^multipart\/form-data(?:;\s*charset=utf-?8)?;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'()+./:=?-]{1,70}))(?:;\s*charset=utf-?8)?$/i;

/**
 * The only accepted form of the header. The upstream could read other forms as another field: one
 * whose name has an escape, a percent code or an encoded word (RFC 2047).
 */
const DISPOSITION =
  /^content-disposition: ?form-data; ?name="([^"\\%=]*)"((?:; ?filename="(?:[^"\\]|\\.)*"|; ?filename=[^\s;"]*|; ?filename\*=[\w%'.!~+-]*){0,2})$/i;

/** A header of a part whose content stands as it is, in one line. */
const PLAIN_HEADER = /^(?!content-transfer-encoding:(?! ?(?:[78]bit|binary)$))[\w-]+:[^\r\n]*$/i;

/**
 * A short text field of a form; `undefined` without the field. Throws `invalid_field` for a
 * duplicate field, and for a form that is written in an unusual way: the upstream may read another
 * value.
 */
export function formField(
  { body, headers }: Pick<PassthroughRequest, "body" | "headers">,
  name: string,
): string | undefined {
  let found: string | undefined;
  const bytes = bytesOf(body);
  for (const field of fieldsOf(bytes, headers["content-type"], name)) {
    if (field.name.toLowerCase() !== name.toLowerCase()) continue;
    if (found !== undefined) {
      throw new GatewayError("invalid_field", `The field ${name} occurs twice in the form.`, {
        param: name,
      });
    }
    // In another case or as a file, some upstreams read it and others do not.
    if (field.name !== name || field.isFile || field.end - field.contentAt > MAX_VALUE_BYTES)
      throw unreadable(name);
    found = bytes.toString("utf8", field.contentAt, field.end);
    if (/[\r\n]/.test(found)) throw unreadable(name);
  }
  return found;
}

/**
 * The short texts of a form as members: `a[b]` is a member of a member, and `a[]` an item of a
 * list. Throws for a form that is written in an unusual way, as `formField` does.
 */
export function formTexts({
  body,
  headers,
}: Pick<PassthroughRequest, "body" | "headers">): JsonObject {
  const texts: Container = {};
  const bytes = bytesOf(body);
  for (const { name, isFile, contentAt, end } of fieldsOf(bytes, headers["content-type"], "model"))
    if (!isFile && end - contentAt <= MAX_TEXT_BYTES)
      put(texts, name, bytes.toString("utf8", contentAt, end));
  return texts as JsonObject;
}

type Container = Record<string, unknown>;

function put(texts: Container, field: string, text: string): void {
  const plain = withoutIndices(field);
  const names = plain.split(/[[\]]+/).filter((name) => name !== "");
  const last = names.pop() ?? "";
  let into = texts;
  for (const name of names) {
    if (!isObject(own(into, name))) putMember(into, name, {});
    into = into[name] as Container;
  }
  const known = own(into, last);
  const isList = plain !== field || known !== undefined;
  putMember(into, last, isList ? [known ?? [], text].flat() : text);
}

/** A name without the indices of lists at its end: `a[b]` for `a[b][0][]`. */
function withoutIndices(name: string): string {
  let end = name.length;
  while (name[end - 1] === "]") {
    const start = name.lastIndexOf("[", end - 1);
    if (start < 1 || !/^\d*$/.test(name.slice(start + 1, end - 1))) break;
    end = start;
  }
  return name.slice(0, end);
}

/** An own member: a client's name may be that of an inherited one. */
function own(from: Container, name: string): unknown {
  return Object.hasOwn(from, name) ? from[name] : undefined;
}

function bytesOf(body: PassthroughRequest["body"] = new Uint8Array(0)): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

interface Field extends PartHeader {
  /** Of its content. */
  readonly end: number;
}

/** The fields of a form; none of an empty body. `name`: what an error says is sought. */
function* fieldsOf(bytes: Buffer, contentType: string | undefined, name: string): Generator<Field> {
  if (bytes.length === 0) return;
  const [, quoted, bare] = BOUNDARY.exec(contentType?.trim() ?? "") ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) throw unreadable(name);
  for (const { start, end } of partsOf(bytes, `--${boundary}`, name))
    yield { ...headerOf(bytes, start, name), end };
}

interface Part {
  /** Of its headers. */
  readonly start: number;
  /** Of its content, without the line break before the delimiter. */
  readonly end: number;
}

/**
 * The parts between delimiters. Throws for a delimiter that not every parser takes for one, or that
 * not every parser passes over.
 */
function partsOf(bytes: Buffer, delimiter: string, name: string): Part[] {
  const parts: Part[] = [];
  let start: number | undefined;
  let isOver = false;
  for (
    let at = bytes.indexOf(delimiter);
    at >= 0;
    at = bytes.indexOf(delimiter, at + delimiter.length)
  ) {
    const before = bytes.toString("latin1", Math.max(0, at - 2), at);
    // In the middle of a line it is none.
    if (at > 0 && !/[\r\n]$/.test(before)) continue;
    if (isOver || (at > 0 && before !== "\r\n")) throw unreadable(name);
    if (start !== undefined) parts.push({ start, end: at - 2 });
    const behind = bytes.toString("latin1", at + delimiter.length, at + delimiter.length + 2);
    isOver = behind === "--";
    if ((!isOver && behind !== "\r\n") || parts.length > MAX_FIELDS) throw unreadable(name);
    start = at + delimiter.length + 2;
  }
  // Parsers differ in what they make of a part without an end.
  if (!isOver && start !== undefined) throw unreadable(name);
  return parts;
}

interface PartHeader {
  readonly name: string;
  readonly isFile: boolean;
  readonly contentAt: number;
}

function headerOf(bytes: Buffer, start: number, name: string): PartHeader {
  const text = bytes.toString("latin1", start, start + MAX_HEADER_BYTES);
  const end = text.indexOf("\r\n\r\n");
  const lines = end < 0 ? [] : text.slice(0, end).split("\r\n");
  const dispositions = lines.filter((line) => /content-disposition/i.test(line));
  const [, field, file = ""] = DISPOSITION.exec(dispositions[0] ?? "") ?? [];
  const isPlain = lines.every((line) => PLAIN_HEADER.test(line));
  if (field === undefined || dispositions.length > 1 || !isPlain) throw unreadable(name);
  return { name: field, isFile: file !== "", contentAt: start + end + 4 };
}

function unreadable(name: string): GatewayError {
  const message =
    `The form cannot be read for its field ${name}. Write each field once, as content-disposition: form-data; name="…", ` +
    `between delimiters of the boundary in content-type, ${MAX_FIELDS} fields at most.`;
  return new GatewayError("invalid_field", message, { param: name });
}
