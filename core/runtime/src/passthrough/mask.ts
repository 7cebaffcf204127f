/**
 * The value of the provider's credential in the bytes of a successful reply: masked, with the
 * length that it has.
 */

import type { HttpCall } from "@sluice/contract";
import { asBuffer } from "@sluice/kit/internals";
import {
  bareValue,
  type BodyFilter,
  credentialText,
  MIN_SECRET_CHARACTERS,
} from "./credential-values.ts";
import { SoughtForm } from "./sought-form.ts";

const MASK = "*".charCodeAt(0);
const LINE_FEED = 10;
const NOTHING = Buffer.alloc(0);
const NO_FORMS: readonly SoughtForm[] = [];
const MAX_KNOWN = 64;
/** Forms by the text of a header, so that no reply writes them again. */
const knownForms = new Map<string, readonly SoughtForm[]>();

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
      const piece = asBuffer(chunk);
      const bytes = maskedAll(
        held.length === 0 ? piece : Buffer.concat([held, piece]),
        forms,
        held.length === 0,
      );
      let from = bytes.length;
      // Events end with a line feed, and no header has one.
      if (bytes.at(-1) !== LINE_FEED)
        for (const form of forms) from = Math.min(from, beginOf(bytes, form.bytes));
      // A copy: a part of a piece would keep the whole of it.
      held = from === bytes.length ? NOTHING : Buffer.from(bytes.subarray(from));
      return from === bytes.length ? bytes : bytes.subarray(0, from);
    },
    end: () => held,
  };
}

/** A whole body with a call's credentials masked: the same object where it has none. */
export function maskedBody(body: Uint8Array, headers: HttpCall["headers"]): Uint8Array {
  const forms = maskedForms(headers);
  return forms.length === 0 ? body : maskedAll(asBuffer(body), forms, true);
}

/** Every request asks for them: one credential costs a look-up and makes nothing. */
function maskedForms(headers: HttpCall["headers"]): readonly SoughtForm[] {
  let forms = NO_FORMS;
  for (const name in headers) {
    const text = credentialText(name, headers[name]);
    if (text === undefined) continue;
    const own = knownForms.get(text) ?? newForms(text);
    forms = forms.length === 0 ? own : union(forms, own);
  }
  return forms;
}

/** The forms of a header's value without its scheme, which is no secret. */
function newForms(text: string): readonly SoughtForm[] {
  const bare = bareValue(text);
  const texts = new Set([bare, JSON.stringify(bare).slice(1, -1), encodeURIComponent(bare)]);
  const forms =
    bare.length < MIN_SECRET_CHARACTERS ? NO_FORMS : [...texts].map((form) => new SoughtForm(form));
  if (knownForms.size >= MAX_KNOWN) knownForms.clear();
  knownForms.set(text, forms);
  return forms;
}

function union(forms: readonly SoughtForm[], others: readonly SoughtForm[]): readonly SoughtForm[] {
  const isNew = ({ bytes }: SoughtForm): boolean => !forms.some((form) => form.bytes.equals(bytes));
  return [...forms, ...others.filter(isNew)];
}

/** The bytes with all forms masked. `isForeign`: they are not ours to write to. */
function maskedAll(bytes: Buffer, forms: readonly SoughtForm[], isForeign: boolean): Buffer {
  let shown = bytes;
  for (const form of forms) shown = masked(shown, form, isForeign && shown === bytes);
  return shown;
}

/** The bytes with a form masked. `isForeign`: they are not ours to write to. */
function masked(bytes: Buffer, form: SoughtForm, isForeign: boolean): Buffer {
  let at = form.placeIn(bytes, 0);
  if (at < 0) return bytes;
  const own = isForeign ? Buffer.from(bytes) : bytes;
  for (; at >= 0; at = form.placeIn(own, at + form.length)) own.fill(MASK, at, at + form.length);
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
