/** Requests of clients that speak the messages API themselves. */

import type { EncodedCall, NativeDocument, ProviderRequest, Secret } from "@sluice/contract";

/** The name of the API among the dialects of clients. */
export const DIALECT = "anthropic";

const BETA = "anthropic-beta";

/**
 * The call with the client's own document: all but the model is as the client wrote it. Names of
 * `anthropic-beta` are those of the configuration and of the client: a header and the body's
 * members that it permits belong together.
 */
export function nativeCall(
  { document, headers: own }: NativeDocument,
  { target }: ProviderRequest,
  url: string,
  headers: Readonly<Record<string, string | Secret>>,
): EncodedCall {
  const betas = [headers[BETA], own[BETA]].filter((value) => typeof value === "string");
  return {
    kind: "http",
    method: "POST",
    url,
    headers: { ...headers, ...own, ...(betas.length > 0 && { [BETA]: betas.join(",") }) },
    body: document.with({ model: target.model }),
    isNative: true,
  };
}
