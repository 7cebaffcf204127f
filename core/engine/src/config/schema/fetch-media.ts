/** The key of every provider that sets how the gateway fetches media that clients name by URL. */

import type { JsonObject } from "@sluice/contract";

/** `fetch_media`. */
export const FETCH_MEDIA_KEYS = {
  fetch_media: {
    type: "object",
    description:
      "The gateway fetches images, documents and videos that a client names by URL, and sends them to the provider by value. Absent: it fetches nothing. Example: `{}`.",
    additionalProperties: false,
    properties: {
      hosts: {
        type: "array",
        minItems: 1,
        uniqueItems: true,
        default: ["*"],
        items: {
          type: "string",
          pattern:
            "^(\\*|(\\*\\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+)$",
          description: "`*`, `*.example.com` or `cdn.example.com`.",
        },
        description:
          "Hosts from which the gateway fetches. URLs at other hosts are sent unchanged. Example: `[cdn.example.com]`.",
      },
      allow_origins: {
        type: "array",
        uniqueItems: true,
        default: [],
        items: { type: "string", format: "origin", description: "A scheme, a host and a port." },
        description:
          "Your own origins. They may have private addresses, any port and no TLS. All others must be public and use https on port 443. Example: `[http://store.internal:9000]`.",
      },
      max_size: {
        type: "string",
        format: "size",
        default: "10mb",
        description: "Maximum size of one medium.",
      },
      timeout: {
        type: "string",
        format: "duration",
        default: "10s",
        description: "Maximum time for one medium, including its wait for a free fetch.",
      },
      redirects: {
        type: "integer",
        minimum: 0,
        maximum: 3,
        default: 0,
        description: "Maximum redirects. Each target is checked like the URL itself.",
      },
      max_parallel: {
        type: "integer",
        minimum: 1,
        maximum: 256,
        default: 16,
        description: "Maximum concurrent fetches in this process.",
      },
    },
  },
} as const satisfies JsonObject;
