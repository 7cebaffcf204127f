/**
 * Removes credentials from a request's model, user, tags and notes, so that none reaches a row,
 * message or log.
 */

import { hash } from "node:crypto";
import type { GatewayRequest, JsonObject } from "@sluice/contract";
import { parseJson } from "@sluice/kit";

const REPLACEMENT = "[redacted]";
/** Characters of the digest that tells two redacted ids of customers apart. */
const DIGEST_CHARACTERS = 22;

/**
 * Texts with the form of a credential: keys of gateways and providers, AWS key ids, tokens of three
 * parts. Their minimum length keeps ids of models out.
 */
const CREDENTIAL =
  /\b(?:(?:sk|pk|rk)-[A-Za-z0-9_-]{20,}|(?:AIza|gsk_|hf_|xai-|gh[a-z]_)[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)/g;
const SHORTEST = 20;

/**
 * A request without credentials in its recorded fields; the same object without any. The forwarded
 * body stays unchanged.
 */
export function withoutCredentials(request: GatewayRequest): GatewayRequest {
  const model = redact(request.model);
  const endUser = request.endUser === null ? null : redactId(request.endUser);
  const tags = request.tags.some((tag) => redact(tag) !== tag)
    ? request.tags.map(redact)
    : request.tags;
  const metadata = redactNotes(request.metadata);
  const isSame =
    model === request.model &&
    endUser === request.endUser &&
    tags === request.tags &&
    metadata === request.metadata;
  return isSame ? request : { ...request, model, endUser, tags, metadata };
}

function redact(text: string): string {
  return text.length < SHORTEST ? text : text.replace(CREDENTIAL, REPLACEMENT);
}

/** An id without credentials. Two different ids stay different. */
function redactId(id: string): string {
  const redacted = redact(id);
  return redacted === id
    ? id
    : `${REPLACEMENT} ${hash("sha256", id, "base64url").slice(0, DIGEST_CHARACTERS)}`;
}

function redactNotes(notes: GatewayRequest["metadata"]): GatewayRequest["metadata"] {
  for (const _ in notes) {
    const text = JSON.stringify(notes);
    const redacted = redact(text);
    return redacted === text ? notes : (parseJson(redacted) as JsonObject);
  }
  return notes;
}
