/** The inference endpoints of OpenAI's API, and of compatible APIs. */

import type { NativeEndpoint, NativeUsage } from "@sluice/contract";

/** Paths and the sources of their usage (platform.openai.com/docs/api-reference). */
const PATHS: readonly (readonly [string, NativeUsage])[] = [
  ["chat/completions", "text"],
  ["completions", "text"],
  ["responses", "text"],
  ["responses/input_tokens", "free"],
  ["embeddings", "prompt"],
  ["moderations", "free"],
  ["images/generations", "reported"],
  ["images/edits", "reported"],
  ["images/variations", "reported"],
  ["audio/speech", "reported"],
  ["audio/transcriptions", "reported"],
  ["audio/translations", "reported"],
];

/**
 * The endpoints, each under every one of `prefixes`. The model stands in the body, in a form in its
 * field `model`.
 */
export function openaiEndpoints(
  prefixes: readonly string[] = ["v1/", ""],
  more: readonly (readonly [string, NativeUsage])[] = [],
): readonly NativeEndpoint[] {
  return prefixes.flatMap((prefix) =>
    [...PATHS, ...more].map(([path, usage]): NativeEndpoint => ({
      path: prefix + path,
      model: "body",
      usage,
    })),
  );
}

/**
 * The endpoints for keys with a model list at a provider without declared endpoints: paths that
 * name their model in every known API.
 */
export const COMMON_ENDPOINTS: readonly NativeEndpoint[] = [
  ...openaiEndpoints(),
  { path: "v1/messages", model: "body", usage: "text" },
  { path: "v1/messages/count_tokens", model: "body", usage: "free" },
];
