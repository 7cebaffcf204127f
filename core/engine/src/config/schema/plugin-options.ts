/** The options of plugins: a definition's own schema, and the keys that every use of its kind has besides. */

import { CALL_HEADER_KEYS } from "./call-headers.ts";
import { FETCH_MEDIA_KEYS } from "./fetch-media.ts";
import type { AnyDefinition, JsonObject, JsonSchema, JsonValue, OpenEndpoints, TextPart } from "@sluice/spec";

/** The keys of every provider, besides those of its plugin. */
const PROVIDER_KEYS: JsonObject = {
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
        description: "To wait for a free connection, before the attempt begins. The wait is no fault of the provider.",
      },
      connect: { type: "string", format: "duration", default: "5s", description: "To open a connection." },
      first_byte: {
        type: "string",
        format: "duration",
        description:
          "From the request to the first byte of the reply. Default: 30s for a stream, 300s for a whole reply, which comes when all of it is made. Example: `60s`.",
      },
      first_content: {
        type: "string",
        format: "duration",
        description:
          "From the request to the first content of a stream; reasoning counts as content. Default: 30s where another target or a fallback can take the request, 300s where none can, and for models and requests with reasoning. Example: `20s`.",
      },
      idle: { type: "string", format: "duration", default: "60s", description: "Between two pieces of a reply." },
    },
  },
  connections: {
    type: "integer",
    minimum: 1,
    default: 512,
    description:
      "Connections to the provider at most, in this process. One key, or the keys of one team, has half of them alone and less beside others; four times as many requests wait.",
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
          description: "A method, where not any is meant, and a path from the native root: `*` is one segment, `**` the rest.",
        },
      },
    ],
    default: "inference",
    description:
      "What native routes serve to keys: `inference`, the endpoints that run a model; `all`; or patterns of paths to open besides. Example: `[GET v1/models, POST v1/batches]`.",
  },
  show_rate_limits: {
    type: "boolean",
    default: false,
    description: "Whether clients of native routes see the rate limits of the provider's account, in the headers of its replies.",
  },
  ...CALL_HEADER_KEYS,
  ...FETCH_MEDIA_KEYS,
};

/** The keys of shared state, besides those of its plugin. */
const STATE_KEYS: JsonObject = {
  instances: {
    type: "integer",
    minimum: 1,
    maximum: 1000,
    default: 1,
    examples: [3],
    description:
      "How many gateways share the state. While the server of the state is away, each admits so large a part of every limit.",
  },
};

/** What texts are, for `scope`. */
const PARTS: readonly string[] = [
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
];

/** The keys of every guardrail, besides those of its plugin. */
const GUARDRAIL_KEYS: JsonObject = {
  default_on: { type: "boolean", default: false, description: "Runs wherever a step `guardrails` stands, without being named." },
  mode: {
    type: "string",
    enum: ["enforce", "shadow"],
    default: "enforce",
    description: "shadow: it is asked and reported, and changes nothing.",
  },
  on_error: {
    type: "string",
    enum: ["fail", "skip"],
    default: "fail",
    description: "What it means when it throws, hangs or answers rubbish: the request fails, or goes on without it.",
  },
  budget_ms: {
    type: "integer",
    minimum: 1,
    maximum: 600_000,
    default: 1_000,
    description: "Milliseconds that one judgement may take. Example: `250`.",
  },
  isolation: {
    type: "string",
    enum: ["inline", "worker"],
    default: "inline",
    description:
      "inline: in the thread that serves, the fastest; worker: in threads of its own, where it may hang, leak or die without harm.",
  },
  worker_threads: {
    type: "integer",
    minimum: 1,
    maximum: 16,
    default: 2,
    description: "Threads of a guardrail with `isolation: worker`. While one hangs, the others judge.",
  },
  worker_heap: {
    type: "string",
    format: "size",
    default: "128mb",
    description: "JavaScript heap of one of these threads at most; one that needs more is ended and replaced.",
  },
  scope: {
    type: "array",
    minItems: 1,
    items: { type: "string", enum: PARTS },
    description: "The texts it judges. Absent: all. Example: `[user, tool]`.",
  },
  max_text: {
    type: "integer",
    minimum: 1_024,
    maximum: 1_073_741_824,
    description:
      "Characters of one text that it judges; what a longer one means says `on_error`. Absent: any, but 131072 for one that judges whole texts in the thread that serves, where nobody else is served meanwhile.",
  },
};

/** The engine's own keys by the kind of the plugin. */
const COMMON_KEYS: Readonly<Partial<Record<AnyDefinition["kind"], JsonObject>>> = {
  provider: PROVIDER_KEYS,
  guardrail: GUARDRAIL_KEYS,
  state: STATE_KEYS,
};

const WHAT: Readonly<Record<string, string>> = {
  guardrail: "The guardrail plugin",
  provider: "The provider plugin",
  store: "The store plugin",
  state: "The state plugin",
  step: "The step",
};

/** Names of the keys that belong to the engine and not to the plugin. */
export function engineKeys(kind: AnyDefinition["kind"]): readonly string[] {
  return ["use", ...Object.keys(COMMON_KEYS[kind] ?? {})];
}

/** The schema of `{ use: name, ...options }` for a provider, a guardrail, a store or shared state. Made once for each definition. */
export function usedPluginSchema(definition: AnyDefinition): JsonSchema {
  return cached(usedSchemas, definition, () => {
    const own = definition.config;
    const common: JsonObject = {
      use: { const: definition.name, description: `${WHAT[definition.kind] ?? "The plugin"}: ${definition.summary}` },
      ...COMMON_KEYS[definition.kind],
    };
    return {
      ...optionsSchema(definition),
      properties: { ...common, ...objectOf(own["properties"]), ...common },
      required: ["use", ...(Array.isArray(own["required"]) ? own["required"] : [])],
    };
  });
}

/** The schema of a step's `with:`. Unknown keys are refused, whatever the definition says or forgets. */
export function optionsSchema(definition: AnyDefinition): JsonSchema {
  return cached(optionSchemas, definition, () => ({ type: "object", additionalProperties: false, ...definition.config }));
}

/** `instances` of shared state after validation. */
export interface StateSection {
  readonly instances: number;
}

/** The common keys of a provider after validation. */
export interface ProviderSection {
  readonly timeouts: {
    readonly queue: string;
    readonly connect: string;
    readonly first_byte?: string;
    readonly first_content?: string;
    readonly idle: string;
  };
  readonly connections: number;
  readonly endpoints: OpenEndpoints;
  readonly show_rate_limits: boolean;
  readonly call_headers: Readonly<Record<string, string>>;
  readonly pass_headers: readonly string[];
  readonly fetch_media?: {
    readonly hosts: readonly string[];
    readonly allow_origins: readonly string[];
    readonly max_size: string;
    readonly timeout: string;
    readonly redirects: number;
    readonly max_parallel: number;
  };
}

/** The common keys of a guardrail after validation. */
export interface GuardrailSection {
  readonly default_on: boolean;
  readonly mode: "enforce" | "shadow";
  readonly on_error: "fail" | "skip";
  readonly budget_ms: number;
  readonly isolation: "inline" | "worker";
  readonly worker_threads: number;
  readonly worker_heap: string;
  readonly scope?: readonly TextPart[];
  readonly max_text?: number;
}

const usedSchemas = new WeakMap<AnyDefinition, JsonSchema>();
const optionSchemas = new WeakMap<AnyDefinition, JsonSchema>();

function cached(cache: WeakMap<AnyDefinition, JsonSchema>, definition: AnyDefinition, make: () => JsonSchema): JsonSchema {
  const schema = cache.get(definition) ?? make();
  cache.set(definition, schema);
  return schema;
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
