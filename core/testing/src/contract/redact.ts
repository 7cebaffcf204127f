/** Removes keys, ids and addresses from recorded traffic. Equal values get equal replacements. */

/** Members whose values name a request, an account or a person. */
const NAMES =
  /"(?:id|request_id|requestId|responseId|response_id|generation_id|tool_call_id|toolUseId|system_fingerprint|user|user_id|organization|organization_id|project|account_id|email)"\s*:\s*"((?:[^"\\]|\\.){4,})"/g;
/** Values that are known by their form, wherever they stand. */
const FORMS =
  /\b(?:sk|pk|rk|org|proj|req|acct|user|key|gsk|xai|AKIA|AIza|ya29)[-_.]?[A-Za-z0-9_-]{12,}|[\w.+-]+@[\w-]+\.[\w.]{2,}|\b(?:\d{1,3}\.){3}\d{1,3}\b|\barn:aws[\w-]*:[^\s"\\]+/g;
const MIN_SECRET_CHARACTERS = 6;

/** Response headers that fixtures may hold: what a provider's `error` and `decode` read. */
const HEADERS =
  /^(?:content-type|retry-after(?:-ms)?|x-amzn-errortype|x-amzn-bedrock-[a-z-]+-token-count|(?:x|anthropic)-ratelimit-[a-z-]+)$/;

/** A redactor that knows these secrets. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret.length >= MIN_SECRET_CHARACTERS);
  const stands = new Map<string, string>();
  const standIn = (value: string): string => {
    const made =
      stands.get(value) ??
      `${/^[A-Za-z]{1,9}[-_]/.exec(value)?.[0] ?? ""}recorded${stands.size + 1}`;
    stands.set(value, made);
    return made;
  };
  return (text) => {
    let redacted = text;
    for (const secret of known) redacted = redacted.replaceAll(secret, "[secret]");
    for (const [, value = ""] of redacted.matchAll(NAMES)) standIn(value);
    for (const [value] of redacted.matchAll(FORMS)) standIn(value);
    // Longer ones first: one may be a part of another.
    const values = [...stands.keys()].sort((a, b) => b.length - a.length);
    for (const value of values) redacted = redacted.replaceAll(value, standIn(value));
    return redacted;
  };
}

/** The headers that may be kept, redacted. */
export function keptHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  redact: (text: string) => string,
): Record<string, string> {
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string] => HEADERS.test(entry[0]) && typeof entry[1] === "string",
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, redact(value)]));
}
