/** Embeddings: the texts of a request, and a reply of vectors. */

export { embeddingsReply as reply, embeddingTexts as texts } from "../embeddings.ts";
