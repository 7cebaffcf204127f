/** Removes the provider's credential, in any form, from errors and error bodies. */

import { GatewayError, type HttpCall, isGatewayError, type ProviderWords } from "@sluice/contract";
import { credentialForms } from "../passthrough/redact.ts";

const REMOVED = "[removed]";

/** A text without the credential of a call, in the forms in which upstreams quote it. */
export function textWithoutCredential(text: string, headers: HttpCall["headers"]): string {
  return cleaner(headers)(text);
}

/**
 * An error without the credential in the parts that its client reads; the same error if it has
 * none. Other errors than gateway errors stay unchanged.
 */
export function errorWithoutCredential<E>(
  error: E,
  headers: HttpCall["headers"],
): E | GatewayError {
  return isGatewayError(error) ? cleanedError(error, headers) : error;
}

function cleanedError(error: GatewayError, headers: HttpCall["headers"]): GatewayError {
  const clean = cleaner(headers);
  const { code, status, retryable, retryAfterMs, headers: own, cause } = error;
  const message = clean(error.message);
  const param = error.param === undefined ? undefined : clean(error.param);
  const provider = error.provider === undefined ? undefined : wordsWithout(error.provider, clean);
  if (message === error.message && param === error.param && provider === error.provider)
    return error;
  return new GatewayError(code, message, {
    status,
    retryable,
    provider,
    cause,
    ...(param === undefined ? {} : { param }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(own === undefined ? {} : { headers: own }),
  });
}

function wordsWithout(words: ProviderWords, clean: (text: string) => string): ProviderWords {
  const { type, code, message } = words;
  const cleaned = {
    ...words,
    type: type === null ? null : clean(type),
    code: typeof code === "string" ? clean(code) : code,
    message: message === null ? null : clean(message),
  };
  return cleaned.type === type && cleaned.code === code && cleaned.message === message
    ? words
    : cleaned;
}

function cleaner(headers: HttpCall["headers"]): (text: string) => string {
  const forms = credentialForms(headers).map((form) => form.toString("utf8"));
  return (text) => {
    let cleaned = text;
    for (const form of forms)
      if (cleaned.includes(form)) cleaned = cleaned.replaceAll(form, REMOVED);
    return cleaned;
  };
}
