/** The key of every provider that says how media are fetched which clients name by URL. */

import type { JsonObject } from "@sluice/spec";

/** `fetch_media`. */
export const FETCH_MEDIA_KEYS: JsonObject = {
  fetch_media: {
    type: "object",
    description:
      "Images, documents and videos that a client names by URL are fetched, and go to the provider by value. Absent: nothing is fetched. Example: `{}`.",
    additionalProperties: false,
    properties: {
      hosts: {
        type: "array",
        minItems: 1,
        uniqueItems: true,
        default: ["*"],
        items: {
          type: "string",
          pattern: "^(\\*|(\\*\\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+)$",
          description: "`*`, `*.example.com` or `cdn.example.com`.",
        },
        description: "Hosts that are fetched from; URLs at others go on as they are. Example: `[cdn.example.com]`.",
      },
      allow_origins: {
        type: "array",
        uniqueItems: true,
        default: [],
        items: { type: "string", format: "origin", description: "A scheme, a host and a port." },
        description:
          "Origins of your own, which may have private addresses, a port and no TLS. All others are public, https: and on port 443. Example: `[http://store.internal:9000]`.",
      },
      max_size: { type: "string", format: "size", default: "10mb", description: "One medium at most." },
      timeout: {
        type: "string",
        format: "duration",
        default: "10s",
        description: "For one medium, the wait for its turn included.",
      },
      redirects: {
        type: "integer",
        minimum: 0,
        maximum: 3,
        default: 0,
        description: "Redirects that are followed, each as wary as the URL itself.",
      },
      max_parallel: {
        type: "integer",
        minimum: 1,
        maximum: 256,
        default: 16,
        description: "Fetches at the same time, in this process.",
      },
    },
  },
};
