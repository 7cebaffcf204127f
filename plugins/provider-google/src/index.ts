/**
 * @sluice/provider-google: two providers, `gemini` for the Gemini API and `vertex` for Vertex AI.
 */

import type { AnyDefinition } from "@sluice/contract";
import { gemini } from "./gemini.ts";
import { vertex } from "./vertex.ts";

export { gemini, type GeminiConfig } from "./gemini.ts";
export { vertex, type VertexConfig } from "./vertex.ts";

const providers: readonly AnyDefinition[] = [gemini, vertex];
export default providers;
