/** Finds keys of the store by their digests, those of imported keys included. */

import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import type { KeyRecord, KeyStore, Log } from "@sluice/contract";
import { strengthFault } from "./key-strength.ts";

/** Before the SHA-256 of an imported key that was not used yet. */
const IMPORTED = "sha256:";

/** A key of the store, and the one of its digests that the presented secret has. */
export interface FoundKey {
  readonly record: KeyRecord;
  readonly digest: string;
}

/** What the look-up is made from. */
export interface StoredKeyOptions {
  readonly pepper: Buffer;
  readonly keys: Pick<KeyStore, "findByDigest" | "replaceDigest">;
  /** Absent: nothing is logged. */
  readonly log?: Log | undefined;
}

/** Looks keys up. It never keeps one. */
export class StoredKeys {
  readonly #pepper: KeyObject;
  readonly #keys: StoredKeyOptions["keys"];
  readonly #log: Log | undefined;
  /** Ids of imported keys whose digest is being replaced. */
  readonly #replacing = new Set<string>();

  constructor({ pepper, keys, log }: StoredKeyOptions) {
    // A key object: from a buffer, Node makes one anew for every digest, at six times the cost.
    this.#pepper = createSecretKey(pepper);
    this.#keys = keys;
    this.#log = log;
  }

  /**
   * HMAC-SHA-256 of a key under the pepper, hexadecimal. 1.2 µs: a random key of 256 bits needs no
   * slow hash.
   */
  digest(key: string): string {
    return createHmac("sha256", this.#pepper).update(key).digest("hex");
  }

  /**
   * The key of a presented secret; `fingerprint` is its SHA-256 in base64url. A key that no digest
   * finds is looked up once more, as an imported key.
   */
  async find(presented: string, fingerprint: string): Promise<FoundKey | undefined> {
    const digest = this.digest(presented);
    const record = await this.#keys.findByDigest(digest);
    if (record !== undefined) return { record, digest };
    if (this.#keys.replaceDigest === undefined) return undefined;
    const imported = importedDigest(Buffer.from(fingerprint, "base64url").toString("hex"));
    // Both at once: another process may replace the one by the other now.
    const found = await this.#keys.findByDigest(digest, imported);
    if (found === undefined) return undefined;
    const isReplaced = found.digest === digest || found.previousDigest === digest;
    return { record: found, digest: isReplaced ? digest : imported };
  }

  /** As `find`, and replaces the digest of an imported key: the request does not wait for it. */
  async use(presented: string, fingerprint: string): Promise<FoundKey | undefined> {
    const found = await this.find(presented, fingerprint);
    if (found !== undefined && found.digest.startsWith(IMPORTED))
      void this.#replace(found, presented);
    return found;
  }

  /** What fails is tried again by the next look-up. */
  async #replace({ record: { id }, digest: from }: FoundKey, presented: string): Promise<void> {
    if (this.#replacing.has(id)) return;
    this.#replacing.add(id);
    try {
      const to = { digest: this.digest(presented), last4: presented.slice(-4) };
      await this.#keys.replaceDigest?.(id, from, to);
      const fault = strengthFault(presented);
      if (fault !== undefined)
        this.#log?.warn("an imported key can be guessed; rotate it", { key_id: id, reason: fault });
    } catch (error) {
      this.#log?.debug("the digest of an imported key was not replaced", { key_id: id, error });
    } finally {
      this.#replacing.delete(id);
    }
  }
}

/** The digest of an imported key from the hexadecimal SHA-256 of it. */
export function importedDigest(sha256: string): string {
  return `${IMPORTED}${sha256}`;
}
