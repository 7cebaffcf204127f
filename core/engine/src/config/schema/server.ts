/** The `server:` section. */

import type { JsonSchema } from "@sluice/contract";
import { adminSchema } from "./admin.ts";
import type { FromSchema } from "./from-schema.ts";

const HOST = {
  type: "string",
  minLength: 1,
  pattern: "^[^/\\s]*$",
  default: "127.0.0.1",
  description: "Address of the public listener. 0.0.0.0 listens on every network.",
} as const satisfies JsonSchema;

const PERCENT = { type: "string", pattern: "^(100|[1-9]?[0-9])%$" } as const satisfies JsonSchema;

/** The schema of `server:`. */
export const serverSchema = {
  type: "object",
  description: "Listeners and limits of the process. An edit here needs a restart.",
  additionalProperties: false,
  properties: {
    name: {
      type: "string",
      pattern: "^[^\\p{C}]{1,40}$",
      description:
        "The name of this environment, for people: the dashboard shows it on every screen.",
      examples: ["production"],
    },
    host: HOST,
    port: {
      type: "integer",
      minimum: 0,
      maximum: 65_535,
      default: 4000,
      description: "Port for clients. 0 takes a free one. The variable SLUICE_PORT overrides it.",
    },
    admin: adminSchema,
    tls: {
      type: "object",
      description:
        "Serves HTTPS on both listeners. The gateway reads the files again when they change; open connections keep the old certificate. Without this section TLS must end in front of the gateway.",
      additionalProperties: false,
      required: ["certificate", "key"],
      properties: {
        certificate: {
          type: "string",
          minLength: 1,
          description: "Path of the certificate and its chain, as PEM, relative to this file.",
          examples: ["tls/tls.crt"],
        },
        key: {
          type: "string",
          minLength: 1,
          description: "Path of the private key, as PEM, relative to this file.",
          examples: ["tls/tls.key"],
        },
      },
    },
    workers: {
      oneOf: [
        { type: "integer", minimum: 1, maximum: 64 },
        { type: "string", enum: ["auto"] },
      ],
      default: 1,
      description:
        "Number of serving processes. auto: one per core. With 2 or more, a supervisor process restarts them and serves the admin listener, and `sluice restart` replaces them without a failed request.",
      examples: ["auto"],
    },
    auth_headers: {
      type: "array",
      description:
        "Names of headers that carry a key. The gateway reads them before `authorization`.",
      default: ["x-service-api-key"],
      uniqueItems: true,
      items: {
        type: "string",
        pattern: "^[A-Za-z0-9-]+$",
        description: "The name of a header, such as x-service-api-key.",
      },
    },
    error_code: {
      type: "string",
      enum: ["status", "text"],
      default: "status",
      description:
        "The form of `error.code` on the public listener. `status`: the HTTP status, an integer. `text`: a word, for clients that distinguish errors by it. The word is the code of docs/errors.md (`context_length_exceeded`), or the upstream's own (`insufficient_quota`) if that code begins with `upstream_`.",
    },
    key_defaults: {
      type: "object",
      description:
        "Default limits of keys from `POST /key/generate` and `sluice keys create`. null in such a request means no limit.",
      additionalProperties: false,
      properties: {
        max_budget: {
          type: "number",
          minimum: 0,
          maximum: 8_000_000,
          description: "US dollars that the key may spend.",
        },
        budget_duration: {
          type: "string",
          pattern: "^[1-9][0-9]{0,3}(s|m|h|d|w|mo)$",
          description:
            "Period after which the budget restarts. It applies only if max_budget also comes from this section.",
        },
        rpm: { type: "integer", minimum: 0, description: "Requests in any minute." },
        tpm: { type: "integer", minimum: 0, description: "Tokens in any minute." },
        max_parallel_requests: { type: "integer", minimum: 0, description: "Concurrent requests." },
      },
    },
    open_docs: {
      type: "boolean",
      default: false,
      description:
        "Serves `/openapi.json` and `/docs` without a key. They show routes and key headers, but no models or providers.",
    },
    drain_timeout: {
      type: "string",
      format: "duration",
      default: "120s",
      description: "Maximum time for requests in flight to finish after a reload or a stop.",
    },
    shutdown_delay: {
      type: "string",
      format: "duration",
      default: "0s",
      description:
        "Time in which a stopping gateway still serves new calls while `/health/ready` is 503, so that a load balancer removes it first. Replies have `connection: close`. After it, new calls get 503 until the last request has ended.",
      examples: ["5s"],
    },
    hung_worker_timeout: {
      type: "string",
      format: "duration",
      default: "10s",
      description:
        "Maximum time that the event loop of a worker may block. The supervisor then logs the blocking code, ends the worker and replaces it. 0s disables it; less than 1s counts as 1s.",
      examples: ["30s"],
    },
    reload: {
      type: "string",
      enum: ["on_save", "on_request"],
      default: "on_save",
      description:
        "When an edit of the files applies. `on_save`: when it is saved. `on_request`: at `sluice reload`, which can start it as a canary.",
    },
    auto_rollback: {
      type: "object",
      description:
        "Automatic rollback: the gateway returns to the previous generation when requests of a new one fail and earlier ones did not. It never rolls back where that widens access. Without this section an edit stays.",
      additionalProperties: false,
      properties: {
        error_rate: {
          ...PERCENT,
          default: "20%",
          description:
            "Share of the new generation's requests with a status of 500 or more, above which it is rolled back.",
        },
        only_below: {
          ...PERCENT,
          default: "5%",
          description:
            "Maximum share of such failures among the 100 requests before the edit. Above it, upstreams already failed, and no rollback happens.",
        },
        min_requests: {
          type: "integer",
          minimum: 1,
          maximum: 100,
          default: 20,
          description: "Minimum number of requests of either generation for a comparison.",
        },
        for: {
          type: "string",
          format: "duration",
          default: "30s",
          description: "Time for which a new generation is monitored.",
        },
      },
    },
    stalled_client_timeout: {
      type: "string",
      format: "duration",
      default: "30s",
      description:
        "Maximum time in which a client reads nothing, or less than 1 KiB per second, of a waiting reply. Then the gateway closes the connection and the upstream's.",
    },
    max_body: {
      type: "string",
      format: "size",
      default: "20mb",
      description: "Maximum size of a request body.",
    },
    max_held: {
      type: "string",
      format: "size",
      description:
        "Maximum bytes of request bodies and unread replies that one process holds for all requests. Each key has a share; a request above it gets a 503. One byte of a body needs about five bytes of memory. Default: an eighth of the heap limit, at least `max_body`.",
      examples: ["256mb"],
    },
    block_warning: {
      type: "string",
      format: "duration",
      default: "0s",
      description:
        "A plugin that blocks the event loop for this time is named in the log and in `sluice_event_loop_blocks_total`. Other requests wait meanwhile. It needs a thread of 14 MB, which attaches V8's debugger to the process during a block. 0s disables it, except in a supervised worker, for blocks of a second.",
      examples: ["200ms"],
    },
    explain_requests: {
      type: "integer",
      minimum: 0,
      maximum: 100_000,
      default: 1_000,
      description:
        "Number of the newest notable requests (refused, failed, retried, rerouted) that `GET /requests/{id}` on the admin listener explains step by step. Each needs about 1 KB. The newest 200 clean requests are kept besides. 0 keeps none.",
    },
    cors: {
      type: "object",
      description:
        "Allows web pages of other origins to call the gateway. Without this section no page may.",
      additionalProperties: false,
      required: ["origins"],
      properties: {
        origins: {
          type: "array",
          minItems: 1,
          uniqueItems: true,
          description: "Exact origins, such as https://app.example.com; `*` for all of them.",
          items: {
            type: "string",
            pattern: "^(\\*|https?://[^/\\s*]+)$",
            description: "One origin, without a path.",
          },
        },
        max_age: {
          type: "string",
          format: "duration",
          default: "10m",
          description: "Time for which a browser may cache the answer to its preflight request.",
        },
      },
    },
    data_directory: {
      type: "string",
      minLength: 1,
      default: "data",
      description:
        "Folder for the store, the outbox and the installation's own secrets, relative to the working directory.",
    },
    time_zone: {
      type: "string",
      pattern: "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$",
      default: "UTC",
      description:
        "Time zone in which the days, weeks and months of budgets begin: an IANA name, such as Europe/Berlin.",
    },
  },
} as const satisfies JsonSchema;

/** `server:` after validation. */
export type ServerSection = FromSchema<typeof serverSchema>;

/** `server.key_defaults:` after validation. */
export type KeyDefaultsSection = FromSchema<typeof serverSchema.properties.key_defaults>;
