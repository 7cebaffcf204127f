/** The options of the extension. */

import type { JsonSchema } from "@sluice/contract";

/** The options as YAML has them. */
export interface LitellmConfig {
  readonly errors: "sluice" | "litellm";
  readonly administration: "admin" | "public";
}

export const litellmSchema = {
  type: "object",
  properties: {
    errors: {
      type: "string",
      enum: ["sluice", "litellm"],
      default: "sluice",
      description:
        "The statuses and codes of errors. `litellm`: 400 for an unknown model, 422 for a spent budget, and codes as text, for clients that compare them.",
    },
    administration: {
      type: "string",
      enum: ["admin", "public"],
      default: "admin",
      description:
        "The listener of the administration routes. `public`: both, because LiteLLM has one address; every caller still needs the rights of the admin listener.",
    },
  },
} as const satisfies JsonSchema;
