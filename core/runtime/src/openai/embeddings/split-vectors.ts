/** Splits an embeddings reply into its vectors without parsing them. */

import type { EmbeddingCalls } from "@sluice/kit/openai";
import { readSkeletonReply } from "@sluice/kit/internals";

/** The vectors of a reply as the original JSON texts, in the order of the inputs. */
export interface Vectors {
  readonly format: EmbeddingCalls.Format;
  readonly texts: readonly Uint8Array[];
}

const QUOTE = 34;

/**
 * The vectors of a reply that `decodeEmbeddings` has accepted. They are views of its bytes. Returns
 * `undefined` for a reply whose vectors cannot be separated: some are not plain arrays of numbers
 * or strings, or the formats differ.
 */
export function splitVectors(reply: Uint8Array): Vectors | undefined {
  const { skeleton, data } = readSkeletonReply(reply, "embedding");
  const { values } = skeleton;
  const isQuoted = values[0]?.[0] === QUOTE;
  if (values.length !== data.length || values.some((value) => (value[0] === QUOTE) !== isQuoted))
    return undefined;
  return { format: isQuoted ? "base64" : "float", texts: values };
}
