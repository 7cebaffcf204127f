/** Removes the provider's credential from an error body, in the forms in which upstreams and proxies quote it. */

import { Secret, type HttpCall } from "@sluice/contract";

const REDACTED = Buffer.from("[redacted]");

/** Shorter values occur in ordinary words and are not secrets. */
const MIN_SECRET_CHARACTERS = 8;

/** Takes the pieces of a body, and returns them without the credential. A value across two pieces is found. */
export interface Redactor {
  push(chunk: Uint8Array): Uint8Array;
  /** The held bytes. */
  end(): Uint8Array;
}

/** The forms of every credential of a call, the longest first. */
export function credentialForms(headers: HttpCall["headers"]): readonly Buffer[] {
  const forms = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    if (!(value instanceof Secret) && name !== "authorization") continue;
    const text = value instanceof Secret ? value.reveal() : value;
    // Upstreams quote `Bearer sk-…` with its scheme and without.
    const bare = text.replace(/^\S+\s+/, "");
    for (const form of [text, bare]) {
      if (form.length < MIN_SECRET_CHARACTERS) continue;
      forms.add(form);
      forms.add(encodeURIComponent(form));
      forms.add(encodeURIComponent(form).replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
      forms.add(JSON.stringify(form).slice(1, -1));
      forms.add(
        JSON.stringify(form)
          .slice(1, -1)
          .replaceAll("/", String.raw`\/`),
      );
      forms.add(Buffer.from(form).toString("base64"));
      forms.add(Buffer.from(form).toString("base64").replaceAll("=", ""));
      forms.add(Buffer.from(form).toString("base64url"));
    }
  }
  return [...forms].toSorted((a, b) => b.length - a.length).map((form) => Buffer.from(form));
}

/** A redactor of these forms. It holds as many bytes as the longest form. */
export function createRedactor(forms: readonly Buffer[]): Redactor {
  const most = Math.max(0, ...forms.map(({ length }) => length - 1));
  let held: Buffer = Buffer.alloc(0);
  const redact = (bytes: Buffer): Buffer => {
    let cleaned = bytes;
    for (const form of forms) {
      const parts: Buffer[] = [];
      let from = 0;
      for (let at = cleaned.indexOf(form); at >= 0; at = cleaned.indexOf(form, from)) {
        parts.push(cleaned.subarray(from, at), REDACTED);
        from = at + form.length;
      }
      if (from > 0) cleaned = Buffer.concat([...parts, cleaned.subarray(from)]);
    }
    return cleaned;
  };
  return {
    push(chunk) {
      const bytes = redact(Buffer.concat([held, chunk]));
      const length = Math.max(0, bytes.length - most);
      held = bytes.subarray(length);
      return bytes.subarray(0, length);
    },
    end: () => redact(held),
  };
}
