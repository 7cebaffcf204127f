/** Seals bytes under the pepper of the installation: AES-256-GCM with a key for each text. */

import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import type { Sealer } from "@sluice/contract";

const ALGORITHM = "aes-256-gcm";
const VERSION = 1;
const SALT_BYTES = 24;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + SALT_BYTES;

/**
 * The sealer of an installation. The form of sealed bytes: a version, the salt of HKDF-SHA-256 (RFC
 * 5869), the ciphertext, the tag. The salt is an HMAC of purpose, owner and text, as the synthetic
 * nonce of RFC 5297: key and nonce differ for different texts, and the same text is sealed alike.
 * The owner is authenticated, and not in it.
 */
export function createSealer(pepper: Uint8Array): Sealer {
  // Derived: the pepper itself is the key of stored digests.
  const secretFor = (use: string): Buffer =>
    createHmac("sha256", pepper).update(`sluice sealer: ${use}`).digest();
  const [secret, saltSecret] = [secretFor("keys"), secretFor("salts")];
  const keysOf = (purpose: string, salt: Uint8Array): readonly [Buffer, Buffer] => {
    const made = hkdfSync("sha256", secret, salt, purpose, KEY_BYTES + NONCE_BYTES);
    const bytes = Buffer.from(made);
    return [bytes.subarray(0, KEY_BYTES), bytes.subarray(KEY_BYTES)];
  };
  return {
    seal(purpose, owner, bytes) {
      const salt = createHmac("sha256", saltSecret)
        .update(JSON.stringify([purpose, owner]))
        .update(bytes)
        .digest()
        .subarray(0, SALT_BYTES);
      const cipher = createCipheriv(ALGORITHM, ...keysOf(purpose, salt));
      cipher.setAAD(Buffer.from(owner));
      const body = cipher.update(bytes);
      return Buffer.concat([
        Uint8Array.of(VERSION),
        salt,
        body,
        cipher.final(),
        cipher.getAuthTag(),
      ]);
    },
    open(purpose, owner, sealed) {
      if (sealed.length < HEAD_BYTES + TAG_BYTES || sealed[0] !== VERSION) return undefined;
      const salt = sealed.subarray(1, HEAD_BYTES);
      const options = { authTagLength: TAG_BYTES };
      const decipher = createDecipheriv(ALGORITHM, ...keysOf(purpose, salt), options);
      decipher.setAAD(Buffer.from(owner));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const body = decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES));
      try {
        return Buffer.concat([body, decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
}
