/**
 * Removes the provider's credential from an error body, in the forms in which upstreams and proxies
 * quote it.
 */

import type { HttpCall } from "@sluice/contract";
import { type BodyFilter, credentialValues, MIN_SECRET_CHARACTERS } from "./credential-values.ts";

const REDACTED = Buffer.from("[redacted]");

/** The forms of every credential of a call, the longest first. */
export function credentialForms(headers: HttpCall["headers"]): readonly Buffer[] {
  const forms = new Set<string>();
  for (const { text, bare } of credentialValues(headers)) {
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
export function createRedactor(forms: readonly Buffer[]): BodyFilter {
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
