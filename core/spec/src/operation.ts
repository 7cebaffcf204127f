/** What a route does. */

export type Operation = "chat" | "embeddings" | "images" | "passthrough" | "models" | "spend";
