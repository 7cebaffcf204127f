/** Finds a key by its id, by the key itself, or by its alias. */

import { GatewayError, type KeyRecord, type KeyStore } from "@sluice/contract";
import type { DeclaredKey, DeclaredTeam, Position } from "../../config/snapshot.ts";
import type { KeyRing } from "../../resources/key-ring.ts";
import { declaredId } from "./record-view.ts";

/** The parts of a search. */
export interface KeyPlaces {
  readonly keys: KeyStore;
  readonly keyRing: KeyRing;
  /** The keys that the live configuration declares. */
  readonly declared: () => readonly DeclaredKey[];
  /** The teams that the live configuration declares. */
  readonly declaredTeams: () => readonly DeclaredTeam[];
}

/** A key of the store or of the configuration. */
export type FoundKey = { readonly record: KeyRecord } | { readonly declared: DeclaredKey };

/** The key, from the store or the configuration. Throws `not_found`, with `name` as `param`. */
export async function findKey(
  { keys, keyRing, declared }: KeyPlaces,
  asked: string,
  name: string,
): Promise<FoundKey> {
  const fingerprint = keyRing.fingerprint(asked);
  const isMeant = (key: DeclaredKey): boolean =>
    declaredId(key) === asked || keyRing.fingerprint(key.key.reveal()) === fingerprint;
  const written = declared().find(isMeant);
  if (written !== undefined) return { declared: written };
  const record = (await keys.find(asked)) ?? (await keyRing.recordOf(asked));
  if (record !== undefined) return { record };
  // Aliases come last, so that an alias that equals another key's id does not hide that key.
  const named = declared().find(({ alias }) => alias === asked);
  if (named !== undefined) return { declared: named };
  const [byAlias] = (await keys.list({ alias: asked, offset: 0, limit: 1 })).keys;
  if (byAlias === undefined) throw noKey(name);
  return { record: byAlias };
}

/** The answer for a key that does not exist, or that the caller may not see. */
export function noKey(name: string): GatewayError {
  return new GatewayError(
    "not_found",
    "No key has this id, alias or value. GET /key/list lists the keys.",
    { param: name },
  );
}

/** The id of a key that is named by its id, its alias or itself. Throws `not_found`. */
export async function keyIdOf(places: KeyPlaces, asked: string): Promise<string> {
  const [record] = (await places.keys.list({ alias: asked, offset: 0, limit: 1 })).keys;
  if (record !== undefined) return record.id;
  const named = places.declared().find(({ alias }) => alias === asked);
  const found = named === undefined ? await findKey(places, asked, "key") : { declared: named };
  return "record" in found ? found.record.id : declaredId(found.declared);
}

/**
 * A key of the store, to be changed. Throws `managed_by_file` for a key that the configuration
 * declares.
 */
export function ownKey(found: FoundKey, name: string): KeyRecord {
  if ("record" in found) return found.record;
  const { alias, at } = found.declared;
  throw managedByFile(`The key ${alias}`, at, name);
}

/** The refusal to change what a file declares. */
export function managedByFile(what: string, at: Position, name: string): GatewayError {
  return new GatewayError(
    "managed_by_file",
    `${what} is declared in the configuration (${at.file}:${at.line}). Change it there.`,
    { param: name },
  );
}
