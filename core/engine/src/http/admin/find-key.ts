/** Finds the key that an administrator means: by its id, or by the key itself. */

import { GatewayError, type KeyRecord, type KeyStore } from "@sluice/spec";
import type { DeclaredKey } from "../../config/snapshot.ts";
import type { KeyRing } from "../../resources/key-ring.ts";
import { invalid } from "./fields.ts";
import { declaredId } from "./record-view.ts";

/** What the search needs. */
export interface KeyPlaces {
  readonly keys: KeyStore;
  readonly keyRing: KeyRing;
  /** The keys that the live configuration declares. */
  readonly declared: () => readonly DeclaredKey[];
}

/** A key of one of the two places. */
export type FoundKey = { readonly record: KeyRecord } | { readonly declared: DeclaredKey };

/** The key, wherever it lives. Throws `not_found`, with `name` as `param`. */
export async function findKey({ keys, keyRing, declared }: KeyPlaces, asked: string, name: string): Promise<FoundKey> {
  const fingerprint = keyRing.fingerprint(asked);
  const isMeant = (key: DeclaredKey): boolean =>
    declaredId(key) === asked || keyRing.fingerprint(key.key.reveal()) === fingerprint;
  const written = declared().find(isMeant);
  if (written !== undefined) return { declared: written };
  const record = (await keys.find(asked)) ?? (await keys.findByDigest(keyRing.digest(asked)));
  if (record === undefined) throw new GatewayError("not_found", "There is no such key.", { param: name });
  return { record };
}

/** A key of the store, to be changed. Throws `not_found`, and `invalid_field` for a key that the configuration declares. */
export async function findOwnKey(places: KeyPlaces, asked: string, name: string): Promise<KeyRecord> {
  const found = await findKey(places, asked, name);
  if ("record" in found) return found.record;
  const { alias, at } = found.declared;
  throw invalid(name, `The key ${alias} is declared in the configuration (${at.file}:${at.line}) and is changed there.`);
}
