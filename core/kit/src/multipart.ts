/**
 * Form bodies (`multipart/form-data`, RFC 7578) for upstreams that take no JSON: built whole, from
 * bounded parts.
 */

import { createHash } from "node:crypto";

/** A file of a form. */
export interface FormFile {
  readonly fileName: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** A form, ready to be sent. */
export interface FormBody {
  /** The `content-type` with the boundary. */
  readonly contentType: string;
  readonly body: Uint8Array;
}

/**
 * A form may have this many bytes: what the gateway takes of a client at most, and some for the
 * frame.
 */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The form of some fields, in their order; `undefined` is left out. The same fields give the same
 * bytes: the boundary follows from them, and occurs in none of them. Throws a RangeError beyond 64
 * MB.
 */
export function formBody(
  fields: Readonly<Record<string, string | FormFile | undefined>>,
): FormBody {
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [partOf(name, value)],
  );
  const size = parts.reduce((sum, { head, bytes }) => sum + head.length + bytes.length, 0);
  if (size > MAX_BYTES)
    throw new RangeError(`A form has ${size} bytes; ${MAX_BYTES} are the most.`);
  const boundary = boundaryOf(parts.map(({ bytes }) => bytes));
  const chunks = parts.flatMap(({ head, bytes }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    bytes,
    Buffer.from("\r\n"),
  ]);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
  };
}

/** A boundary that none of the parts holds. */
function boundaryOf(parts: readonly Uint8Array[]): string {
  for (let salt = 0; ; salt++) {
    const hash = createHash("sha256").update(String(salt));
    for (const bytes of parts) hash.update(String(bytes.length)).update(bytes);
    const boundary = `form-${hash.digest("hex").slice(0, 32)}`;
    if (
      parts.every(
        (bytes) =>
          !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(boundary),
      )
    )
      return boundary;
  }
}

function partOf(
  name: string,
  value: string | FormFile,
): { readonly head: string; readonly bytes: Uint8Array } {
  const field = `content-disposition: form-data; name="${quoted(name)}"`;
  if (typeof value === "string") return { head: field, bytes: Buffer.from(value, "utf8") };
  const { fileName, mimeType, bytes } = value;
  return {
    head: `${field}; filename="${quoted(fileName)}"\r\ncontent-type: ${mimeType.replaceAll(/[\r\n]/g, "")}`,
    bytes,
  };
}

/** Quotes and line ends as browsers write them (html.spec.whatwg.org, multipart form data). */
function quoted(text: string): string {
  return text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}
