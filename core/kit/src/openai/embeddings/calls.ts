/** Embeddings of the reference dialect. */

export {
  type EmbeddingFormat as Format,
  decodeEmbeddings as decode,
  encodeEmbeddings as encode,
} from "./embeddings.ts";
export { floatsToBase64 } from "./format.ts";
