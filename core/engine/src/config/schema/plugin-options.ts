/** The options of plugins: the schema of the definition, and the common keys of its kind. */

import { CALL_HEADER_KEYS } from "./call-headers.ts";
import { FETCH_MEDIA_KEYS } from "./fetch-media.ts";
import type { AnyDefinition, JsonObject, JsonSchema, JsonValue, TextPart } from "@sluice/contract";
import type { FromSchema } from "./from-schema.ts";

/** The common keys of providers, beside the options of the plugin. */
const PROVIDER_KEYS = {
  timeouts: {
    type: "object",
    description: "Deadlines of one attempt.",
    additionalProperties: false,
    default: {},
    properties: {
      queue: {
        type: "string",
        format: "duration",
        default: "10s",
        description:
          "Wait for a free connection, before the attempt begins. It does not count as a failure of the provider.",
      },
      connect: {
        type: "string",
        format: "duration",
        default: "5s",
        description: "Time to open a connection.",
      },
      first_byte: {
        type: "string",
        format: "duration",
        description:
          "Time from the request to the first byte of the reply. Default: 30s for a stream, 300s for a whole reply, which the upstream sends when it is complete. Example: `60s`.",
      },
      first_content: {
        type: "string",
        format: "duration",
        description:
          "Time from the request to the first content of a stream. Reasoning counts as content. Default: 30s if another target or a fallback can take the request; 300s if none can, and for models and requests with reasoning. Example: `20s`.",
      },
      idle: {
        type: "string",
        format: "duration",
        default: "60s",
        description: "Time between two pieces of a reply.",
      },
    },
  },
  connections: {
    type: "integer",
    minimum: 1,
    default: 512,
    description:
      "Maximum connections to the provider in this process. One key, or the keys of one team, gets at most half of them, and less beside others. Four times as many requests can wait.",
  },
  endpoints: {
    anyOf: [
      { type: "string", enum: ["inference", "all"] },
      {
        type: "array",
        minItems: 1,
        maxItems: 64,
        items: {
          type: "string",
          pattern: "^((GET|POST|PUT|PATCH|DELETE) )?/?[^/?#\\s][^?#\\s]*$",
          description:
            "An optional method, and a path from the native root. `*` matches one segment, `**` the rest.",
        },
      },
    ],
    default: "inference",
    description:
      "Endpoints that keys may call on native routes. `inference`: the endpoints that run a model. `all`: every endpoint. A list: these path patterns, beside `inference`. Example: `[GET v1/models, POST v1/batches]`.",
  },
  account_objects: {
    anyOf: [
      { type: "string", enum: ["none", "all"] },
      {
        type: "array",
        minItems: 1,
        maxItems: 256,
        items: {
          type: "string",
          minLength: 1,
          maxLength: 512,
          description: "An id. `*` at its end stands for any rest.",
        },
      },
    ],
    default: "none",
    description:
      "Objects of the provider's account that requests of keys may name by id: files, vector stores, containers, stored prompts, caches, earlier responses. They belong to no key. `none`: a request that names one is refused. `all`: every key may name every one. A list: these. Example: `[vs_0123456789, cntr_*]`. The master key, and keys with `passthrough: true` without a model list, may name all.",
  },
  show_rate_limits: {
    type: "boolean",
    default: false,
    description:
      "Whether native routes pass the provider's rate limit headers, which describe its account, to clients.",
  },
  ...CALL_HEADER_KEYS,
  ...FETCH_MEDIA_KEYS,
} as const satisfies JsonObject;

/** The common keys of shared state, beside the options of the plugin. */
const STATE_KEYS = {
  instances: {
    type: "integer",
    minimum: 1,
    maximum: 1000,
    default: 1,
    examples: [3],
    description:
      "Number of gateways that share the state. While the state's server is unavailable, each gateway admits its share of every limit: one divided by this number.",
  },
} as const satisfies JsonObject;

/** The common keys of stores, beside the options of the plugin. */
const STORE_KEYS = {
  on_store_down: {
    type: "string",
    enum: ["serve_known", "refuse"],
    default: "serve_known",
    description:
      "What keys are served while the store does not answer. `serve_known`: those that this process has looked up before, up to `max_staleness`. `refuse`: none; `/health/ready` is 503.",
  },
  max_staleness: {
    type: "string",
    format: "duration",
    default: "10m",
    description:
      "The longest time since the last answer of the store in which known keys are served. A key that is blocked elsewhere meanwhile is served that long at most.",
    examples: ["30s"],
  },
} as const satisfies JsonObject;

/** The kinds of texts that `scope` can name. */
const PARTS = [
  "system",
  "developer",
  "user",
  "assistant",
  "tool",
  "arguments",
  "tools",
  "documents",
  "prompt",
  "embedding",
  "names",
  "parameters",
  "content",
  "refusal",
  "reasoning",
] as const satisfies readonly TextPart[];

/** The common keys of guardrails, beside the options of the plugin. */
const GUARDRAIL_KEYS = {
  default_on: {
    type: "boolean",
    default: false,
    description: "Runs in every step `guardrails`, also in steps that do not name it.",
  },
  only_named: {
    type: "boolean",
    default: false,
    description:
      "Requests may name it in `guardrails` only with the master key, and with keys whose own list, or that of their team, organization or user, names it. For others it does not exist.",
  },
  mode: {
    type: "string",
    enum: ["enforce", "shadow"],
    default: "enforce",
    description:
      "shadow: the guardrail runs and its verdicts are reported, without effect on requests.",
  },
  on_error: {
    type: "string",
    enum: ["fail", "skip"],
    default: "fail",
    description:
      "What happens when the guardrail throws, times out or returns an invalid verdict. `fail`: the request fails. `skip`: it continues without the guardrail.",
  },
  budget_ms: {
    type: "integer",
    minimum: 1,
    maximum: 600_000,
    default: 1_000,
    description: "Maximum milliseconds for one verdict. Example: `250`.",
  },
  isolation: {
    type: "string",
    enum: ["inline", "worker"],
    default: "inline",
    description:
      "inline: in the serving thread, which is fastest. worker: in separate threads; a guardrail that hangs, leaks or crashes there does not block the gateway.",
  },
  worker_threads: {
    type: "integer",
    minimum: 1,
    maximum: 16,
    default: 2,
    description:
      "Threads of a guardrail with `isolation: worker`. While one hangs, the others continue.",
  },
  worker_heap: {
    type: "string",
    format: "size",
    default: "128mb",
    description:
      "Maximum JavaScript heap of one thread. A thread that needs more is terminated and replaced.",
  },
  scope: {
    type: "array",
    minItems: 1,
    items: { type: "string", enum: PARTS },
    description: "The kinds of texts that it checks. Absent: all. Example: `[user, tool]`.",
  },
  max_text: {
    type: "integer",
    minimum: 1_024,
    maximum: 1_073_741_824,
    description:
      "Maximum characters of one text that it checks; `on_error` decides about a longer one. Absent: unlimited, but 131072 for a guardrail that checks whole texts in the serving thread, because other requests wait meanwhile.",
  },
} as const satisfies JsonObject;

/** The engine's own keys, by kind of plugin. */
const COMMON_KEYS: Readonly<Partial<Record<AnyDefinition["kind"], JsonObject>>> = {
  provider: PROVIDER_KEYS,
  guardrail: GUARDRAIL_KEYS,
  state: STATE_KEYS,
  store: STORE_KEYS,
};

const WHAT: Readonly<Record<string, string>> = {
  guardrail: "The guardrail plugin",
  provider: "The provider plugin",
  store: "The store plugin",
  state: "The state plugin",
  step: "The step",
};

/** Names of the keys that belong to the engine, not to the plugin. */
export function engineKeys(kind: AnyDefinition["kind"]): readonly string[] {
  return ["use", ...Object.keys(COMMON_KEYS[kind] ?? {})];
}

/**
 * The schema of `{ use: name, ...options }` for a provider, a guardrail, a store or shared state.
 * Cached by definition.
 */
export function usedPluginSchema(definition: AnyDefinition): JsonSchema {
  return cached(usedSchemas, definition, () => {
    const own = definition.config;
    const common: JsonObject = {
      use: {
        const: definition.name,
        description: `${WHAT[definition.kind] ?? "The plugin"}: ${definition.summary}`,
      },
      ...COMMON_KEYS[definition.kind],
    };
    return {
      ...optionsSchema(definition),
      properties: { ...common, ...objectOf(own["properties"]), ...common },
      required: ["use", ...(Array.isArray(own["required"]) ? own["required"] : [])],
    };
  });
}

/**
 * The schema of a step's `with:`. It refuses unknown keys, whatever the definition says: a misspelt
 * option must not be silent. A definition that takes any key declares a property of type object for
 * them.
 */
export function optionsSchema(definition: AnyDefinition): JsonSchema {
  return cached(optionSchemas, definition, () => ({
    ...definition.config,
    type: "object",
    additionalProperties: false,
  }));
}

type CommonOptions<P> = FromSchema<{
  readonly type: "object";
  readonly additionalProperties: false;
  readonly properties: P;
}>;

/** `instances` of shared state after validation. */
export type StateSection = CommonOptions<typeof STATE_KEYS>;

/** The common keys of a store after validation. */
export type StoreSection = CommonOptions<typeof STORE_KEYS>;

/** The common keys of a provider after validation. */
export type ProviderSection = CommonOptions<typeof PROVIDER_KEYS>;

/** The common keys of a guardrail after validation. */
export type GuardrailSection = CommonOptions<typeof GUARDRAIL_KEYS>;

const usedSchemas = new WeakMap<AnyDefinition, JsonSchema>();
const optionSchemas = new WeakMap<AnyDefinition, JsonSchema>();

function cached(
  cache: WeakMap<AnyDefinition, JsonSchema>,
  definition: AnyDefinition,
  make: () => JsonSchema,
): JsonSchema {
  const schema = cache.get(definition) ?? make();
  cache.set(definition, schema);
  return schema;
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {};
}
