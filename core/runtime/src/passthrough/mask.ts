/**
 * The value of the provider's credential in the bytes of a successful reply: masked, with the
 * length that it has.
 */

import type { HttpCall } from "@sluice/contract";
import { type BodyFilter, credentialValues, MIN_SECRET_CHARACTERS } from "./credential-values.ts";

const MASK = "*".charCodeAt(0);
const NOTHING = Buffer.alloc(0);
const NO_FORMS: readonly Buffer[] = [];
const MAX_KNOWN = 64;
/** Forms by credential, so that no reply writes them again. */
const knownForms = new Map<string, readonly Buffer[]>();

/**
 * A masker of a call's credentials, as they stand and as JSON and URLs write them; `undefined` for
 * a call without one. The common piece costs one search for each credential. Only the end of a
 * piece that begins a credential is held back.
 */
export function createMasker(headers: HttpCall["headers"]): BodyFilter | undefined {
  const forms = maskedForms(headers);
  if (forms.length === 0) return undefined;
  let held: Buffer = NOTHING;
  return {
    push(chunk) {
      const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
      for (const form of forms) bytes = masked(bytes, form, bytes === piece);
      const from = Math.min(...forms.map((form) => beginOf(bytes, form)));
      // A copy: a part of a piece would keep the whole of it.
      held = from === bytes.length ? NOTHING : Buffer.from(bytes.subarray(from));
      return bytes.subarray(0, from);
    },
    end: () => held,
  };
}

function maskedForms(headers: HttpCall["headers"]): readonly Buffer[] {
  const lists = credentialValues(headers).map(({ bare }) => formsOf(bare));
  return lists.length === 1 ? (lists[0] as readonly Buffer[]) : [...new Set(lists)].flat();
}

/** The forms of one value, without its scheme, which is no secret. */
function formsOf(bare: string): readonly Buffer[] {
  if (bare.length < MIN_SECRET_CHARACTERS) return NO_FORMS;
  const known = knownForms.get(bare);
  if (known !== undefined) return known;
  const texts = new Set([bare, JSON.stringify(bare).slice(1, -1), encodeURIComponent(bare)]);
  const forms = [...texts].map((text) => Buffer.from(text));
  if (knownForms.size >= MAX_KNOWN) knownForms.clear();
  knownForms.set(bare, forms);
  return forms;
}

/** The bytes with a form masked. `isForeign`: they are not ours to write to. */
function masked(bytes: Buffer, form: Buffer, isForeign: boolean): Buffer {
  let at = bytes.indexOf(form);
  if (at < 0) return bytes;
  const own = isForeign ? Buffer.from(bytes) : bytes;
  for (; at >= 0; at = own.indexOf(form, at + form.length)) own.fill(MASK, at, at + form.length);
  return own;
}

/** The offset of an incomplete credential at the end of the bytes; their length without one. */
function beginOf(bytes: Buffer, form: Buffer): number {
  const first = form[0] as number;
  let at = bytes.indexOf(first, Math.max(0, bytes.length - form.length + 1));
  while (at >= 0 && bytes.compare(form, 0, bytes.length - at, at) !== 0)
    at = bytes.indexOf(first, at + 1);
  return at < 0 ? bytes.length : at;
}
