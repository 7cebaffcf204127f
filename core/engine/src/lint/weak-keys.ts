/** The lint `weak_key`: declared keys with less than 128 bits. */

import type { LintFinding, LintSubject } from "./rule.ts";

/** Characters of base64 that hold 128 bits. */
const MIN_LENGTH = 22;

/**
 * Reports declared keys that are too short for 128 bits. Messages show the length, never the key.
 */
export function weakKeys({ snapshot }: LintSubject): LintFinding[] {
  return snapshot.keys
    .filter(({ key }) => key.reveal().length < MIN_LENGTH)
    .map(({ alias, key, at }) => ({
      at,
      message: `The key ${alias} has ${key.reveal().length} characters: an attacker can guess it.`,
      fix: `Use at least ${MIN_LENGTH} random characters (128 bits): \`openssl rand -hex 32\` prints 64.`,
    }));
}
