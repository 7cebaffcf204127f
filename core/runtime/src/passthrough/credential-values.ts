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
    if (!(value instanceof Secret) && name !== "authorization") return [];
    const text = value instanceof Secret ? value.reveal() : value;
    return [{ text, bare: text.replace(/^\S+\s+/, "") }];
  });
}

/** Changes the pieces of a body. A value across several pieces is found. */
export interface BodyFilter {
  push(chunk: Uint8Array): Uint8Array;
  /** The held bytes. */
  end(): Uint8Array;
}
