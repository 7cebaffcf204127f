/** A text field of a form body (`multipart/form-data`, RFC 7578), read without taking the form apart. */

import { GatewayError } from "@sluice/spec";

/** A name is short: no more of a form is read behind its field. */
const MAX_FIELD_BYTES = 512;
const MAX_FIELDS = 256;

const HEADER = "content-disposition:";
/** The character of the header's name that has no case, to look for. */
const HYPHEN = "-";
const HYPHEN_AT = HEADER.indexOf(HYPHEN);
const LINE_FEED = 10;

/** The one form in which clients write the header. Others could be read as another field by the upstream. */
const DISPOSITION =
  /^content-disposition: ?form-data; ?name="([^"\r\n]*)"(?:; ?filename\*?=[^\r\n]*)?\r?\n((?:[^\r\n]+\r?\n)*)\r?\n/i;

/**
 * A short text field of a form, `undefined` where it has none. Throws `invalid_field` for a field that stands twice and for a header
 * that is written in an unusual way: the upstream may read another value.
 */
export function formField(body: Uint8Array | undefined, name: string): string | undefined {
  if (body === undefined) return undefined;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let found: string | undefined;
  let fields = 0;
  for (let at = nextHeader(bytes, 0); at >= 0; at = nextHeader(bytes, at + HEADER.length)) {
    const text = bytes.toString("latin1", at, at + MAX_FIELD_BYTES);
    const field = DISPOSITION.exec(text);
    if (field === null || ++fields > MAX_FIELDS) {
      const message = `The form cannot be read for its field ${name}: write each field as form-data; name="…", ${MAX_FIELDS} fields at most.`;
      throw new GatewayError("invalid_field", message, { param: name });
    }
    if (field[1] !== name) continue;
    if (found !== undefined)
      throw new GatewayError("invalid_field", `The field ${name} stands twice in the form.`, { param: name });
    [found = ""] = text.slice(field[0].length).split(/\r?\n/, 1);
  }
  return found;
}

/** The next line that begins with the header, in any case; -1 without one. */
function nextHeader(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(HYPHEN, from); at >= 0; at = bytes.indexOf(HYPHEN, at + 1)) {
    const start = at - HYPHEN_AT;
    if (start < from || (start > 0 && bytes[start - 1] !== LINE_FEED)) continue;
    if (bytes.toString("latin1", start, start + HEADER.length).toLowerCase() === HEADER) return start;
  }
  return -1;
}
