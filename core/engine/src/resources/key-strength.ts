/** Whether a given key can be guessed, as far as its characters show it. */

/** Characters of base64 that hold 128 bits. */
export const MIN_KEY_LENGTH = 22;
const MAX_KEY_LENGTH = 256;
/** Less than the 128 of a random key: the estimate is below this for one in a million. */
const MIN_BITS = 80;
/** What a header can carry, without blanks and quotes. */
const SENDABLE = /^[!#-&(-~]+$/;

/** The kinds of characters, and how many there are of each. */
const KINDS: readonly (readonly [pattern: RegExp, count: number])[] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/[0-9]/, 10],
  [/[^a-zA-Z0-9]/, 32],
];

/**
 * Why a key is refused, as the end of a sentence that begins with the key; `undefined` for a key
 * that is fit. A word or a name of enough letters counts as random: the check has no dictionary.
 */
export function strengthFault(key: string): string | undefined {
  if (!SENDABLE.test(key)) return "has characters other than visible ASCII ones";
  if (key.length < MIN_KEY_LENGTH)
    return `has ${key.length} characters; it needs ${MIN_KEY_LENGTH} or more`;
  if (key.length > MAX_KEY_LENGTH)
    return `has ${key.length} characters; ${MAX_KEY_LENGTH} are the maximum`;
  const bits = Math.floor(bitsOf(key.replace(/^sk-/, "")));
  if (bits < MIN_BITS)
    return `has about ${bits} bits of entropy; it needs ${MIN_BITS} or more, of random characters`;
  return undefined;
}

/**
 * Estimates the entropy in bits. Characters count that neither repeat or continue the one before,
 * nor repeat what followed the same two characters earlier.
 */
function bitsOf(text: string): number {
  const alphabet = KINDS.reduce((sum, [kind, count]) => sum + (kind.test(text) ? count : 0), 0);
  const followers = new Map<string, string>();
  let unexpected = 0;
  for (let index = 0; index < text.length; index += 1) {
    const pair = text.slice(Math.max(0, index - 2), index);
    const character = text[index] ?? "";
    const step = index === 0 ? Number.NaN : text.charCodeAt(index) - text.charCodeAt(index - 1);
    if (!(Math.abs(step) <= 1) && followers.get(pair) !== character) unexpected += 1;
    if (pair.length === 2) followers.set(pair, character);
  }
  return unexpected * Math.log2(alphabet);
}
