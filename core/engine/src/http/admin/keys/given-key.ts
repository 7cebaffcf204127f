/** A key that the administrator chooses, in place of one that the gateway makes. */

import type { GatewayError, JsonValue, Secret } from "@sluice/contract";
import { strengthFault } from "../../../resources/key-strength.ts";
import { invalid } from "../fields.ts";
import type { KeyPlaces } from "../find-key.ts";

/** The parts of the check. */
export interface GivenKeyParts extends KeyPlaces {
  readonly readKey: () => Secret | undefined;
}

/**
 * Checks a given key. Throws `invalid_field` for one that can be guessed, and for one that exists:
 * in the store, in the configuration, or as a key of administration. No message holds the key.
 */
export async function readGivenKey(value: JsonValue, parts: GivenKeyParts): Promise<string> {
  if (typeof value !== "string") throw invalid("key", "The field key must be a string: a key.");
  const fault = strengthFault(value);
  if (fault !== undefined) throw invalid("key", `The given key ${fault}.`);
  const { keyRing, declared, readKey } = parts;
  const fingerprint = keyRing.fingerprint(value);
  const others = [...declared().map(({ key }) => key), readKey()].flatMap((key) => key ?? []);
  const isTaken =
    keyRing.isMaster(fingerprint) ||
    others.some((key) => keyRing.fingerprint(key.reveal()) === fingerprint) ||
    (await keyRing.recordOf(value)) !== undefined;
  if (isTaken) throw existingKey();
  return value;
}

/** The refusal of a key that exists. */
export function existingKey(): GatewayError {
  return invalid("key", "This key exists already. Choose another one, or leave the field out.");
}
