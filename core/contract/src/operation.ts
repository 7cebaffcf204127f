/** The operations of routes. */

export type Operation = "chat" | "embeddings" | "images" | "passthrough" | "models" | "spend";
