/** The keys of every provider that say what headers its calls have. */

import type { JsonObject } from "@sluice/spec";

/** `call_headers` and `pass_headers`. */
export const CALL_HEADER_KEYS: JsonObject = {
  call_headers: {
    type: "object",
    additionalProperties: { type: "string", maxLength: 4096, description: "The value, in visible ASCII." },
    default: {},
    description:
      "Headers that every call to the provider has, beside the provider's own. Not credentials, nor headers of the connection, of framing or of forwarding. Example: `{ x-tenant: blue }`.",
  },
  pass_headers: {
    type: "array",
    uniqueItems: true,
    maxItems: 32,
    items: { type: "string", description: "A header's name." },
    default: [],
    description:
      "Request headers of the client that go on to the provider. Not those that carry a key for the gateway, nor headers of the connection, of framing or of forwarding. Example: `[openai-project]`.",
  },
};
