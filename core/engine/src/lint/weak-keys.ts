/** The lint `weak_key`: declared keys that are short enough to be guessed. */

import type { Doubt, LintSubject } from "./rule.ts";

/** 128 bits in characters of base64. */
const MIN_LENGTH = 22;

/** Declared keys of fewer characters than 128 bits need. Their values are not shown. */
export function weakKeys({ snapshot }: LintSubject): Doubt[] {
  return snapshot.keys
    .filter(({ key }) => key.reveal().length < MIN_LENGTH)
    .map(({ alias, key, at }) => ({
      at,
      message: `The key ${alias} has ${key.reveal().length} characters: it can be guessed.`,
      fix: `Use ${MIN_LENGTH} random characters or more, which are 128 bits: \`openssl rand -hex 32\` makes 64.`,
    }));
}
