/** The `server:` section. */

import type { JsonSchema } from "@sluice/spec";

const HOST: JsonSchema = {
  type: "string",
  minLength: 1,
  default: "127.0.0.1",
  description: "Address to listen on; 0.0.0.0 for every network.",
};

const PERCENT: JsonSchema = { type: "string", pattern: "^(100|[1-9]?[0-9])%$" };

/** The schema of `server:`. */
export const serverSchema: JsonSchema = {
  type: "object",
  description: "Where the gateway listens and what it accepts. An edit here needs a restart.",
  additionalProperties: false,
  properties: {
    host: HOST,
    port: {
      type: "integer",
      minimum: 0,
      maximum: 65_535,
      default: 4000,
      description: "Port for clients; 0 takes any free one. SLUICE_PORT wins.",
    },
    admin: {
      type: "object",
      description: "The listener for administration: configuration, keys, metrics.",
      additionalProperties: false,
      default: {},
      properties: {
        host: { ...HOST, description: "Address of the admin listener; keep it off public networks." },
        port: {
          type: "integer",
          minimum: 0,
          maximum: 65_535,
          default: 4001,
          description: "Port of the admin listener; 0 takes any free one. SLUICE_ADMIN_PORT wins.",
        },
        read_key: {
          type: "string",
          minLength: 24,
          "x-secret": true,
          description:
            "A second key that reads `GET /metrics`, `/config/status` and `/deployments` and nothing else, as `${env:NAME}` or `${file:path}`; for Prometheus.",
          examples: ["${env:SLUICE_READ_KEY}"],
        },
      },
    },
    tls: {
      type: "object",
      description:
        "Serves HTTPS on both listeners. The files are read again when they change; connections that are open keep theirs. Without this section TLS must end in front of the gateway.",
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
        "Processes that serve; auto: one for each core. With 2 or more, one further process supervises them and answers for administration, and `sluice restart` replaces them without a failed request.",
      examples: ["auto"],
    },
    auth_headers: {
      type: "array",
      description: "Names of headers that carry a key, read before `authorization`.",
      default: ["x-service-api-key"],
      uniqueItems: true,
      items: { type: "string", pattern: "^[A-Za-z0-9-]+$", description: "The name of a header, such as x-service-api-key." },
    },
    error_code: {
      type: "string",
      enum: ["status", "text"],
      default: "status",
      description:
        "What `error.code` is in errors of the public listener. `status`: the HTTP status, an integer. `text`: a word, for clients that tell errors apart by it: the code of docs/errors.md (`context_length_exceeded`), or the upstream's own (`insufficient_quota`) where that one begins with `upstream_`.",
    },
    key_defaults: {
      type: "object",
      description:
        "Limits of a key that `POST /key/generate` or `sluice keys create` makes without naming them; null there means no limit.",
      additionalProperties: false,
      properties: {
        max_budget: { type: "number", minimum: 0, maximum: 8_000_000, description: "US dollars that the key may spend." },
        budget_duration: {
          type: "string",
          pattern: "^[1-9][0-9]{0,3}(s|m|h|d|w|mo)$",
          description: "The budget begins anew with each; used where max_budget is this section's too.",
        },
        rpm: { type: "integer", minimum: 0, description: "Requests in any minute." },
        tpm: { type: "integer", minimum: 0, description: "Tokens in any minute." },
        max_parallel_requests: { type: "integer", minimum: 0, description: "Requests at the same time." },
      },
    },
    open_docs: {
      type: "boolean",
      default: false,
      description: "Serves `/openapi.json` and `/docs` without a key. They name routes and key headers, no models or providers.",
    },
    drain_timeout: {
      type: "string",
      format: "duration",
      default: "120s",
      description: "How long requests in flight may finish after a reload or a stop.",
    },
    drain_delay: {
      type: "string",
      format: "duration",
      default: "0s",
      description:
        "How long a gateway that is stopped still serves new calls while `/health/ready` is 503 already, so that a load balancer takes it out first. Afterwards new calls are answered with 503 until the last request has ended.",
      examples: ["5s"],
    },
    hung_worker_timeout: {
      type: "string",
      format: "duration",
      default: "10s",
      description:
        "A supervised worker whose event loop stands still for so long is logged with the code that holds it, ended and replaced. 0s ends none; less than 1s counts as 1s.",
      examples: ["30s"],
    },
    reload: {
      type: "string",
      enum: ["on_save", "on_request"],
      default: "on_save",
      description:
        "When an edit of the files applies: `on_save`, as soon as it is saved; `on_request`, at `sluice reload`, so that it can begin as a canary.",
    },
    auto_rollback: {
      type: "object",
      description:
        "Goes back to the generation before by itself, when requests of a new one fail and those before did not; never where that would open what the edit closed. Without this section an edit stays.",
      additionalProperties: false,
      properties: {
        error_rate: { ...PERCENT, default: "20%", description: "More of its requests than this end with a status from 500 on." },
        only_below: {
          ...PERCENT,
          default: "5%",
          description:
            "Of the 100 requests before it fewer than this did: an upstream that fails already is no fault of the edit.",
        },
        min_requests: {
          type: "integer",
          minimum: 1,
          maximum: 100,
          default: 20,
          description: "Neither is judged by fewer requests.",
        },
        for: { type: "string", format: "duration", default: "30s", description: "How long a new generation is watched." },
      },
    },
    stalled_client_timeout: {
      type: "string",
      format: "duration",
      default: "30s",
      description:
        "How long a client may take nothing, or less than 1 KiB a second, of a reply that waits for it. Then the connection is cut, and the upstream's with it.",
    },
    max_body: { type: "string", format: "size", default: "20mb", description: "The largest request body." },
    max_held: {
      type: "string",
      format: "size",
      description:
        "Bytes of request bodies and of replies that clients have not read yet, of all requests of a process together. Each key has a part of them; beyond it a request gets a 503. In memory a byte of a body costs about five. Default: an eighth of the heap limit, at least `max_body`.",
      examples: ["256mb"],
    },
    block_warning: {
      type: "string",
      format: "duration",
      default: "200ms",
      description:
        "A plugin that holds the event loop for so long, so that nobody is served meanwhile, is named in the log and in `sluice_event_loop_blocks_total`. 0s watches nothing.",
      examples: ["1s"],
    },
    explain_requests: {
      type: "integer",
      minimum: 0,
      maximum: 100_000,
      default: 1_000,
      description:
        "Eventful requests (refused, failed, tried again, sent elsewhere) that `GET /requests/{id}` on the admin listener explains step by step: the newest so many, about 1 KB each; beside them the newest 200 that went smoothly. 0 keeps none.",
    },
    cors: {
      type: "object",
      description: "Lets pages of other origins call the gateway. Without this section no page may.",
      additionalProperties: false,
      required: ["origins"],
      properties: {
        origins: {
          type: "array",
          minItems: 1,
          uniqueItems: true,
          description: "Exact origins, such as https://app.example.com; `*` for all of them.",
          items: { type: "string", pattern: "^(\\*|https?://[^/\\s*]+)$", description: "One origin, without a path." },
        },
        max_age: {
          type: "string",
          format: "duration",
          default: "10m",
          description: "How long a browser may keep the answer to its preflight.",
        },
      },
    },
    data_directory: {
      type: "string",
      minLength: 1,
      default: "data",
      description: "Folder for the store, the outbox and the installation's own secrets, relative to the working directory.",
    },
    time_zone: {
      type: "string",
      pattern: "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$",
      default: "UTC",
      description: "Where the days, weeks and months of budgets begin: an IANA name, such as Europe/Berlin.",
    },
  },
};

/** `server:` after validation. */
export interface ServerSection {
  readonly host: string;
  readonly port: number;
  readonly admin: { readonly host: string; readonly port: number; readonly read_key?: unknown };
  readonly tls?: { readonly certificate: string; readonly key: string };
  readonly workers: number | "auto";
  readonly auth_headers: readonly string[];
  readonly error_code: "status" | "text";
  readonly key_defaults?: KeyDefaultsSection;
  readonly open_docs: boolean;
  readonly drain_timeout: string;
  readonly drain_delay: string;
  readonly hung_worker_timeout: string;
  readonly reload: "on_save" | "on_request";
  readonly auto_rollback?: {
    readonly error_rate: string;
    readonly only_below: string;
    readonly min_requests: number;
    readonly for: string;
  };
  readonly stalled_client_timeout: string;
  readonly max_body: string;
  readonly max_held?: string;
  readonly block_warning: string;
  readonly explain_requests: number;
  readonly cors?: { readonly origins: readonly string[]; readonly max_age: string };
  readonly data_directory: string;
  readonly time_zone: string;
}

/** `server.key_defaults:` after validation. */
export interface KeyDefaultsSection {
  readonly max_budget?: number;
  readonly budget_duration?: string;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly max_parallel_requests?: number;
}
