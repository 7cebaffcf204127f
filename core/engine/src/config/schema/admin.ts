/** The `server.admin:` section. */

import type { JsonSchema } from "@sluice/contract";
import type { FromSchema } from "./from-schema.ts";

/** The schema of `server.admin:`. */
export const adminSchema = {
  type: "object",
  description: "The listener for administration: configuration, keys, metrics.",
  additionalProperties: false,
  default: {},
  properties: {
    host: {
      type: "string",
      minLength: 1,
      pattern: "^[^/\\s]*$",
      default: "127.0.0.1",
      description: "Address of the admin listener. Keep it off public networks.",
    },
    port: {
      type: "integer",
      minimum: 0,
      maximum: 65_535,
      default: 4001,
      description:
        "Port of the admin listener; 0 takes a free one. The variable SLUICE_ADMIN_PORT overrides it.",
    },
    public_url: {
      type: "string",
      pattern: "^(https://[^/?#@]+|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:[0-9]+)?)$",
      description:
        "The origin at which browsers see the admin listener, where a proxy stands in front of it. Sessions of browsers need TLS or a listener on the loopback address.",
      examples: ["https://sluice-admin.example.com"],
    },
    hosts: {
      type: "array",
      default: [],
      uniqueItems: true,
      description:
        "Further names in the header `host` that the admin listener accepts. Without it: localhost, 127.0.0.1, ::1, its own address and `public_url`; on 0.0.0.0 or ::, every IP address.",
      items: {
        type: "string",
        pattern: "^[A-Za-z0-9._-]+$",
        description: "One name, without a port.",
      },
      examples: [["sluice-admin.monitoring.svc"]],
    },
    editor: {
      type: "string",
      enum: ["off", "propose", "write"],
      default: "propose",
      description:
        "What administrators may do to these files over the admin listener. `propose`: check and test an edit, and take it away as a patch. `write`: also write the files. An edit here needs a restart.",
    },
    keep_audit: {
      type: "string",
      format: "duration",
      description:
        "How long lines of the audit are kept. Older ones are deleted within an hour, and a line about it stays in the chain. Without it they are kept for ever.",
      examples: ["400d"],
    },
    read_key: {
      type: "string",
      minLength: 24,
      "x-secret": true,
      description:
        "A second key, for Prometheus. It may read only `GET /metrics`, `/config/status` and `/deployments`. Write `${env:NAME}` or `${file:path}`.",
      examples: ["${env:SLUICE_READ_KEY}"],
    },
    previous_key: {
      type: "object",
      description:
        "The master key before a rotation. The gateway accepts it beside the new one until the given time.",
      additionalProperties: false,
      required: ["key", "until"],
      properties: {
        key: {
          type: "string",
          minLength: 24,
          "x-secret": true,
          description: "The key, as `${env:NAME}` or `${file:path}`.",
          examples: ["${env:SLUICE_PREVIOUS_MASTER_KEY}"],
        },
        until: {
          type: "string",
          minLength: 1,
          description:
            "When the key expires: a day, a time in `server.time_zone`, or a time with an offset.",
          examples: ["2026-12-24T18:00Z"],
        },
      },
    },
  },
} as const satisfies JsonSchema;

/** `server.admin:` after validation. */
export type AdminSection = FromSchema<typeof adminSchema>;

/** `server.admin.previous_key:` after validation. */
export type PreviousKeySection = FromSchema<typeof adminSchema.properties.previous_key>;
