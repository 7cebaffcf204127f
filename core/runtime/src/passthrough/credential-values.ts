/** The values of a call's credentials, as they are searched for in replies. */

import { Secret, type HttpCall } from "@sluice/contract";

/** Shorter values occur in ordinary words and are not secrets. */
export const MIN_SECRET_CHARACTERS = 8;

/**
 * A credential in a header: the value, and the value without its scheme. Upstreams quote `Bearer
 * sk-…` both ways.
 */
export interface CredentialValue {
  readonly text: string;
  readonly bare: string;
}

/** The credentials of a call: secrets in any header, and `authorization`. */
export function credentialValues(headers: HttpCall["headers"]): readonly CredentialValue[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const text = credentialText(name, value);
    return text === undefined ? [] : [{ text, bare: bareValue(text) }];
  });
}

/** The text of a header that is a credential; `undefined` for any other. */
export function credentialText(
  name: string,
  value: string | Secret | undefined,
): string | undefined {
  if (value instanceof Secret) return value.reveal();
  return name === "authorization" ? value : undefined;
}

/** A header's value without its scheme. */
export function bareValue(text: string): string {
  return text.replace(/^\S+\s+/, "");
}

/** Changes the pieces of a body. A value across several pieces is found. */
export interface BodyFilter {
  push(chunk: Uint8Array): Uint8Array;
  /** The held bytes. */
  end(): Uint8Array;
}
