/** Why a service does not answer, as a finding shows it. */

import { errorReason, Secret } from "@sluice/contract";

const REMOVED = "[removed]";
/** Shorter values occur in ordinary words. */
const MIN_CHARACTERS = 4;
/** The user and the password of an address. */
const USER_INFO = /(?<=\/\/)[^/?#\s]*@/g;

/**
 * The reason of an error without the secrets of the service's options: an error may quote a header
 * that cannot be sent, or an address with a password.
 */
export function reasonOf(error: unknown, options: unknown): string {
  let reason = errorReason(error);
  for (const text of secretTexts(options)) reason = reason.replaceAll(text, REMOVED);
  return reason.replaceAll(USER_INFO, `${REMOVED}@`);
}

/** The secrets of options, their lines, and the password of an address; longest first. */
function secretTexts(options: unknown): readonly string[] {
  const texts = [...valuesIn(options)].flatMap((value) => [
    value,
    ...value.split(/[\r\n]+/),
    ...passwordsOf(value),
  ]);
  return texts
    .filter(({ length }) => length >= MIN_CHARACTERS)
    .toSorted((left, right) => right.length - left.length);
}

function* valuesIn(options: unknown): Generator<string, void, undefined> {
  if (options instanceof Secret) yield options.reveal();
  else if (typeof options === "object" && options !== null)
    for (const member of Object.values(options)) yield* valuesIn(member);
}

function passwordsOf(value: string): readonly string[] {
  const { password = "" } = URL.parse(value) ?? {};
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
