/** Removes confidential parts of an upstream's message before a client reads it. */

const MAX_CHARACTERS = 500;

const PATTERNS: readonly RegExp[] = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_*-]{4,}/g,
  /\b(?:AIza|gsk_|hf_|xai-|ghp_)[A-Za-z0-9_-]{8,}/g,
  /\bBearer\s+\S+/gi,
  /\bAKIA[0-9A-Z]{12,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]+/g,
  /\b(?:org|proj|req|acct)[-_][A-Za-z0-9]{6,}/g,
  /\bhttps?:\/\/\S+/gi,
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g,
];

/**
 * A message of at most 500 characters without credentials, organisation ids, URLs and addresses.
 */
export function scrub(message: string): string {
  let text = message.slice(0, MAX_CHARACTERS * 2);
  for (const pattern of PATTERNS) text = text.replace(pattern, "[removed]");
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
