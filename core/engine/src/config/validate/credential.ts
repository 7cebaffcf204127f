/** Literals that look like credentials. */

const CREDENTIALS: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{20,}/,
  /\bAKIA[A-Z0-9]{16}\b/,
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/,
];

/**
 * Whether a text holds something that looks like a credential: an `sk-` key, an AWS key id, the
 * head of a private key.
 */
export function looksLikeCredential(text: string): boolean {
  return CREDENTIALS.some((pattern) => pattern.test(text));
}

/** A text with everything in it that looks like a credential left out. */
export function hideCredentials(text: string): string {
  return CREDENTIALS.reduce(
    (shown, pattern) => shown.replace(new RegExp(pattern, "g"), "[hidden]"),
    text,
  );
}
