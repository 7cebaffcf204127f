/** Options that most providers share, with the same texts everywhere. */

import type { JsonSchema } from "@sluice/contract";

/**
 * The base address of an API: an origin and an optional path, no slash at the end. The address of
 * one route is none.
 */
const BASE_URL_PATTERN =
  "^(?!.*/(?:completions|responses|messages|embeddings)$)https?://[^/?#]+(/[^?#]*[^/?#])?$";

/** An option whose value is a secret, written as a reference. */
export function secretOption(description: string): JsonSchema {
  return { type: "string", "x-secret": true, description };
}

/** The option `api_key`. The variable is the one that the provider's own tools read. */
export function apiKeyOption(variable: string): JsonSchema {
  return secretOption(`The API key, as a reference: \`\${env:${variable}}\`.`);
}

/** The option `base_url`, with the provider's own address. */
export function baseUrlOption(url: string): JsonSchema {
  return {
    type: "string",
    pattern: BASE_URL_PATTERN,
    default: url,
    description: `Base address of the API, without a slash at the end. Example: \`${url}\`.`,
  };
}

/** An address option without a default. `description` names the owner of the address. */
export function addressOption(description: string): JsonSchema {
  return { type: "string", pattern: BASE_URL_PATTERN, description };
}

/** The option `embedding_formats` for an upstream that speaks the reference dialect. */
export function embeddingFormatsOption(
  formats: readonly ("float" | "base64")[],
  example: string,
): JsonSchema {
  return {
    type: "array",
    minItems: 1,
    uniqueItems: true,
    items: { type: "string", enum: ["float", "base64"], description: "One format." },
    default: [...formats],
    description: `The \`encoding_format\`s that the upstream supports. With one, the gateway converts to the other. Example: \`${example}\`.`,
  };
}

/** The option `responses`. `byDefault` completes "Default: `true` …". */
export function responsesOption(byDefault: string | undefined): JsonSchema {
  const absent = byDefault === undefined ? "`false`" : `\`true\` ${byDefault}, else \`false\``;
  return {
    type: "boolean",
    description: `The upstream has OpenAI's Responses API: clients of \`/v1/responses\` reach it with their own document. Default: ${absent}. Example: \`true\`.`,
  };
}
