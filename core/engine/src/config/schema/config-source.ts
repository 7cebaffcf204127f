/** The section `config` of gateway.yaml: where the rest of the configuration is. */

import type { JsonSchema } from "@sluice/contract";

export const configSourceSchema = {
  type: "object",
  additionalProperties: false,
  default: {},
  description:
    "Where the rest of the configuration is. It is read at the start alone. With `source: postgres` this file has `version`, `server`, `store`, `shared`, `plugins` and `config`, and nothing else.",
  properties: {
    source: {
      type: "string",
      enum: ["files", "postgres"],
      default: "files",
      description:
        "`files`: this file and the folder of pipelines. `postgres`: what `sluice push` has put into the store, which must be `postgres`.",
    },
    secrets: {
      type: "array",
      default: ["/run/secrets"],
      items: { type: "string", minLength: 1, description: "A folder." },
      description:
        "Folders whose files a pushed configuration may name with `${file:…}`; relative to this file.",
    },
  },
} as const satisfies JsonSchema;
