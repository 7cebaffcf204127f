/** Ids of keys. */

import { hash, randomBytes } from "node:crypto";
import type { KeyStore } from "@sluice/contract";
import type { KeyRing } from "../../../resources/key-ring.ts";

/** The id of a key whose secret the gateway makes. */
export function newKeyId(): string {
  return `key_${randomBytes(9).toString("base64url")}`;
}

/**
 * The id of a secret, from its SHA-256 in hexadecimal: the same for a key that is given and for one
 * that is imported, so that one secret has one record. It is made with the pepper, so that it
 * reveals nothing about a key that can be guessed.
 */
export function idOfSecret(keyRing: Pick<KeyRing, "digest">, sha256: string): string {
  const digest = Buffer.from(keyRing.digest(`import:${sha256}`), "hex");
  return `key_${digest.toString("base64url").slice(0, 12)}`;
}

/** The id of a given key. An import of it finds the key by the id, unless an earlier key has it. */
export async function idOfGiven(
  key: string,
  { keys, keyRing }: { readonly keys: KeyStore; readonly keyRing: Pick<KeyRing, "digest"> },
): Promise<string> {
  const id = idOfSecret(keyRing, hash("sha256", key));
  const isUsed = (await keys.find(id)) !== undefined || (await keys.wasImported?.(id)) === true;
  return isUsed ? newKeyId() : id;
}
