/**
 * Google's own endpoints that run a model, and the headers of its uploads (ai.google.dev/api,
 * cloud.google.com/vertex-ai/docs/reference).
 */

import { Native } from "@sluice/kit/passthrough";
import type { NativeEndpoint, NativeUsage } from "@sluice/contract";

/**
 * Methods of a model and how their usage is known. Those that begin a job are not among them: what
 * it costs comes later.
 */
const METHODS: readonly (readonly [string, NativeUsage])[] = [
  ["generateContent", "text"],
  ["streamGenerateContent", "text"],
  ["countTokens", "free"],
  ["embedContent", "prompt"],
  ["batchEmbedContents", "prompt"],
  ["predict", "reported"],
];

/** Methods that hand a body to a partner's model, as Claude's. */
const RAW_METHODS: readonly (readonly [string, NativeUsage])[] = [
  ["rawPredict", "text"],
  ["streamRawPredict", "text"],
];

/** The Gemini API. Its copies of OpenAI's endpoints have the model in the body. */
export const GEMINI_ENDPOINTS: readonly NativeEndpoint[] = [
  ...atModels("{version}/models/", METHODS),
  ...Native.openaiEndpoints(["v1beta/openai/"]).filter(({ path }) =>
    /(?:chat\/completions|embeddings|images\/generations)$/.test(path),
  ),
];

/** Vertex AI: models of publishers, in a project and location or, with an API key, in none. */
export const VERTEX_ENDPOINTS: readonly NativeEndpoint[] = [
  ...atModels("{version}/projects/{project}/locations/{location}/publishers/{publisher}/models/", [
    ...METHODS,
    ...RAW_METHODS,
  ]),
  ...atModels("{version}/publishers/{publisher}/models/", [...METHODS, ...RAW_METHODS]),
];

/** Headers of resumable uploads. */
export const UPLOAD_REQUEST_HEADERS = [
  "x-goog-upload-command",
  "x-goog-upload-file-name",
  "x-goog-upload-header-content-length",
  "x-goog-upload-header-content-type",
  "x-goog-upload-offset",
  "x-goog-upload-protocol",
];
export const UPLOAD_REPLY_HEADERS = [
  "x-goog-upload-chunk-granularity",
  "x-goog-upload-size-received",
  "x-goog-upload-status",
];
export const UPLOAD_ADDRESS_HEADERS = ["x-goog-upload-control-url", "x-goog-upload-url"];

function atModels(
  base: string,
  methods: readonly (readonly [string, NativeUsage])[],
): NativeEndpoint[] {
  return methods.map(([method, usage]) => ({
    path: `${base}{model}:${method}`,
    model: "path",
    usage,
  }));
}
