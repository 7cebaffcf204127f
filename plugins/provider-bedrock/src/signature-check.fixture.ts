/**
 * The other side of a signature: what AWS does with a request that arrives
 * (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html).
 */

import { createHash, createHmac } from "node:crypto";

/** A request as it arrived. */
export interface ArrivedRequest {
  readonly method: string;
  /** Path and query, as on the wire. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array | string;
}

/** Whether the request is signed with the secret, by its own word on who, when and what. */
export function isSignedWith(
  secret: string,
  { method, url, headers, body }: ArrivedRequest,
): boolean {
  const [, scope, names, signature] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      String(headers.authorization),
    ) ?? [];
  const payload = createHash("sha256").update(body).digest("hex");
  if (scope === undefined || names === undefined || headers["x-amz-content-sha256"] !== payload)
    return false;
  const [path = "", query = ""] = url.split("?");
  const lines = names
    .split(";")
    .map((name) => `${name}:${String(headers[name]).trim().replaceAll(/\s+/g, " ")}\n`);
  const canonical = [
    method,
    path.split("/").map(encoded).join("/"),
    query.split("&").sort().join("&"),
    lines.join(""),
    names,
    payload,
  ].join("\n");
  const hashed = createHash("sha256").update(canonical).digest("hex");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashed].join("\n");
  let key: string | Buffer = `AWS4${secret}`;
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
  return createHmac("sha256", key).update(text).digest("hex") === signature;
}

function encoded(segment: string): string {
  return encodeURIComponent(segment).replaceAll(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The secret of {@link SDK_REQUEST}: the example of AWS's documentation. */
export const EXAMPLE_SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/**
 * The SDK's own request for one ConverseCommand: @aws-sdk/client-bedrock-runtime 3.1162.0, its
 * transport replaced.
 */
export const SDK_REQUEST: ArrivedRequest = {
  method: "POST",
  url: "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
  headers: {
    "content-type": "application/json",
    "content-length": "66",
    "x-amz-user-agent": "aws-sdk-js/3.1161.0",
    host: "bedrock-runtime.us-east-1.amazonaws.com",
    "amz-sdk-invocation-id": "6b656abb-1c71-4c3c-9122-199161cea7a0",
    "amz-sdk-request": "attempt=1; max=1",
    "x-amz-date": "20261120T173115Z",
    "x-amz-security-token": "IQoJb3JpZ2luX2VjEXAMPLE//token==",
    "x-amz-content-sha256": "ea29de4831c1318fdf6f1fae69e70b1ce74295de5476318f784089b38e7d15ea",
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261120/us-east-1/bedrock/aws4_request, SignedHeaders=amz-sdk-invocation-id;amz-sdk-request;content-length;content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-amz-user-agent, Signature=53f58c5c5e502ec3c12e3e2a71b4c34c08981318febe1c342aee5b9edc368638",
  },
  body: '{"messages":[{"role":"user","content":[{"text":"Grüße 😀"}]}]}',
};
