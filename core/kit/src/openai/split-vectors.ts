/** Takes an embeddings reply apart into its vectors, without parsing them. */

import type { EmbeddingFormat } from "./embeddings.ts";
import { readSkeletonReply } from "./skeleton-reply.ts";

/** The vectors of a reply, each as the JSON text that it was written with, in the order of the inputs. */
export interface Vectors {
  readonly format: EmbeddingFormat;
  readonly texts: readonly Uint8Array[];
}

const QUOTE = 34;

/**
 * The vectors of a reply that `decodeEmbeddings` has accepted. They are views of its bytes. Returns `undefined` for a reply whose
 * vectors cannot be told apart: some are no plain arrays of numbers or strings, or they are written in two ways.
 */
export function splitVectors(reply: Uint8Array): Vectors | undefined {
  const { skeleton, data } = readSkeletonReply(reply, "embedding");
  const { values } = skeleton;
  const isQuoted = values[0]?.[0] === QUOTE;
  if (values.length !== data.length || values.some((value) => (value[0] === QUOTE) !== isQuoted)) return undefined;
  return { format: isQuoted ? "base64" : "float", texts: values };
}
