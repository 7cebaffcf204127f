/** The keys of every provider that set the headers of its calls. */

import type { JsonObject } from "@sluice/contract";

/** `call_headers` and `pass_headers`. */
export const CALL_HEADER_KEYS = {
  call_headers: {
    type: "object",
    additionalProperties: {
      type: "string",
      maxLength: 4096,
      description: "The value, in visible ASCII.",
    },
    default: {},
    description:
      "Headers of every call to the provider, beside the provider's own. Credentials and headers of connection, framing and forwarding are refused. Example: `{ x-tenant: blue }`.",
  },
  pass_headers: {
    type: "array",
    uniqueItems: true,
    maxItems: 32,
    items: { type: "string", description: "A header's name." },
    default: [],
    description:
      "Request headers of the client that the gateway forwards to the provider. Headers with a key of the gateway and headers of connection, framing and forwarding are refused. Example: `[openai-project]`.",
  },
} as const satisfies JsonObject;
