/** Error bodies of native replies, without the value of the provider's credential. */

import type { HttpCall } from "@sluice/contract";
import { createReplyDecoder } from "./decoder.ts";
import { createRedactor, credentialForms } from "./redact.ts";

/** Maximum compressed bytes of an error that are decoded and searched. */
const MAX_CODED_BYTES = 65_536;
const MAX_DECODED_BYTES = 1024 * 1024;

const WITHHELD = Buffer.from(
  '{"error":{"message":"The upstream\'s error is withheld: its coding cannot be read.","type":"upstream_error","code":502,"param":null}}',
);

/** The headers of an error: its length and coding may change. */
export function cleanErrorHeaders(
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const { "content-length": _length, "content-encoding": _coding, ...kept } = headers;
  return kept;
}

/**
 * The body of an error with `[redacted]` in place of the credential. A compressed one is decoded.
 * An undecodable one is withheld.
 */
export async function* cleanErrorBody(
  body: AsyncIterable<Uint8Array>,
  { "content-encoding": coding }: Readonly<Record<string, string>>,
  { headers }: HttpCall,
): AsyncGenerator<Uint8Array, void, undefined> {
  const redactor = createRedactor(credentialForms(headers));
  const plain = coding === undefined ? body : decoded(body, coding);
  for await (const chunk of plain) {
    const cleaned = redactor.push(chunk);
    if (cleaned.length > 0) yield cleaned;
  }
  const rest = redactor.end();
  if (rest.length > 0) yield rest;
}

async function* decoded(
  body: AsyncIterable<Uint8Array>,
  coding: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let coded = 0;
  const decoder = createReplyDecoder(coding, (chunk) => {
    size += chunk.length;
    if (size <= MAX_DECODED_BYTES) chunks.push(chunk);
  });
  for await (const chunk of body) {
    coded += chunk.length;
    if (coded <= MAX_CODED_BYTES) decoder?.push(chunk);
  }
  await decoder?.end();
  const isWhole =
    decoder !== undefined &&
    coded <= MAX_CODED_BYTES &&
    size <= MAX_DECODED_BYTES &&
    (size > 0 || coded === 0);
  if (isWhole) yield* chunks;
  else yield WITHHELD;
}
