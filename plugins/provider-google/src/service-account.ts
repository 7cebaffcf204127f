/**
 * Service accounts: a key in JSON, and the signed claim that a token is given for (RFC 7523;
 * developers.google.com/identity/protocols/oauth2/service-account).
 */

import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { isObject, parseJson } from "@sluice/kit";
import type { Secret } from "@sluice/contract";

/** A service account, as its key file has it. */
export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | undefined;
  readonly tokenUrl: string;
  readonly key: KeyObject;
}

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const TOKEN_URL = "https://oauth2.googleapis.com/token";
/** The longest that a claim may hold. */
const LIFE_SECONDS = 3_600;

/** Reads a key file. Returns what is wrong with it as a text that holds nothing of it. */
export function readServiceAccount(secret: Secret): ServiceAccount | string {
  let value: unknown;
  try {
    value = parseJson(secret.reveal());
  } catch {
    return "is not JSON";
  }
  if (!isObject(value) || value.type !== "service_account") return "is no key of a service account";
  const {
    client_email: email,
    private_key: pem,
    private_key_id: keyId,
    token_uri: tokenUrl = TOKEN_URL,
  } = value;
  if (typeof email !== "string" || typeof pem !== "string")
    return "has no client_email or no private_key";
  if (typeof tokenUrl !== "string" || !/^https?:\/\/[^/?#]+\/[^?#]*$/.test(tokenUrl))
    return "has a token_uri that is not a URL";
  try {
    const key = createPrivateKey(pem);
    return { email, keyId: typeof keyId === "string" ? keyId : undefined, tokenUrl, key };
  } catch {
    return "has a private_key that cannot be read";
  }
}

/** The body of a token request, signed now. */
export function tokenRequestBody(
  { email, keyId, tokenUrl, key }: ServiceAccount,
  nowMs: number,
): string {
  const issuedAt = Math.floor(nowMs / 1_000);
  const header = { alg: "RS256", typ: "JWT", ...(keyId === undefined ? {} : { kid: keyId }) };
  const claim = {
    iss: email,
    scope: SCOPE,
    aud: tokenUrl,
    iat: issuedAt,
    exp: issuedAt + LIFE_SECONDS,
  };
  const text = `${base64Url(header)}.${base64Url(claim)}`;
  const assertion = `${text}.${sign("RSA-SHA256", Buffer.from(text), key).toString("base64url")}`;
  return new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion,
  }).toString();
}

function base64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
