/** The section `tests:` of a pipeline file. */

import type { JsonObject, JsonSchema } from "@sluice/contract";
import type { FromSchema } from "./from-schema.ts";

const NAMES = {
  type: "array",
  items: { type: "string", minLength: 1, description: "One name." },
} as const satisfies JsonObject;
const TEXTS = {
  type: "array",
  items: { type: "string", minLength: 1, description: "One text." },
} as const satisfies JsonObject;
const COUNT = { type: "integer", minimum: 0 } as const satisfies JsonObject;
const HEADERS = {
  type: "object",
  propertyNames: { pattern: "^[A-Za-z0-9-]+$" },
  additionalProperties: { type: "string", description: "The header's value." },
} as const satisfies JsonObject;
/** The schema of one text, or of several. */
const textOrTexts = (description: string) =>
  ({
    type: ["string", "array"],
    items: TEXTS.items,
    description,
  }) as const;
const members = (description: string) =>
  ({
    type: "object",
    description: `${description} Paths are written \`choices[0].message.content\`.`,
    additionalProperties: { description: "The expected value at this path." },
  }) as const;

const keySchema = {
  type: ["string", "object"],
  description:
    "The key of the request. `none`: no key. `master`: the master key. Else a key with these properties. Absent: a key without limits.",
  pattern: "^(none|master)$",
  additionalProperties: false,
  properties: {
    alias: { type: "string", minLength: 1, description: "The name of the key." },
    user_id: { type: "string", minLength: 1, description: "The user of the key." },
    team_id: { type: "string", minLength: 1, description: "The team of the key." },
    models: {
      ...NAMES,
      description:
        "Model ids, wildcards and access groups that the key may use. Absent: every model.",
    },
    team_models: {
      ...NAMES,
      description: "Models that the key's team may use. Absent: every model.",
    },
    guardrails: { ...NAMES, description: "Guardrails that the key's requests must pass." },
    passthrough: {
      type: "boolean",
      description: "Whether the key may call every native path of the providers. Default: false.",
    },
    tags: { ...NAMES, description: "The key's tags." },
    metadata: { type: "object", description: "The key's notes." },
    max_budget: {
      type: "number",
      minimum: 0,
      maximum: 8_000_000,
      description: "US dollars that the key may spend.",
    },
    soft_budget: {
      type: "number",
      minimum: 0,
      description: "US dollars above which the step limits warns.",
    },
    rpm: { ...COUNT, description: "Requests in any minute." },
    tpm: { ...COUNT, description: "Tokens in any minute." },
    max_parallel: { ...COUNT, description: "Concurrent requests." },
  },
} as const satisfies JsonObject;
const outcomeSchema = {
  type: "object",
  description: "The outcome of one upstream call. Without members: a success.",
  additionalProperties: false,
  properties: {
    reply: {
      type: "string",
      description: "Text of a successful reply, for every provider's dialect. Default: `ok`.",
    },
    chunks: {
      type: "array",
      items: { type: "string", description: "One piece." },
      description: "The text of the reply in pieces. A request for a stream gets them one by one.",
    },
    tool_calls: {
      type: "array",
      description: "Tool calls of the reply.",
      items: {
        type: "object",
        description: "One call.",
        additionalProperties: false,
        required: ["name", "arguments"],
        properties: {
          name: { type: "string", minLength: 1, description: "The tool." },
          arguments: { type: "string", description: "Its arguments, as JSON text." },
        },
      },
    },
    finish_reason: {
      type: "string",
      minLength: 1,
      description: "Why the reply ends. Default: `stop`, or `tool_calls`.",
    },
    usage: {
      type: ["object", "string"],
      description:
        "The usage that the upstream reports. `none`: it reports none. Default: 10 prompt and 5 completion tokens.",
      pattern: "^none$",
      additionalProperties: false,
      required: ["prompt_tokens", "completion_tokens"],
      properties: {
        prompt_tokens: { ...COUNT, description: "Tokens of the prompt." },
        completion_tokens: { ...COUNT, description: "Tokens of the reply." },
      },
    },
    status: {
      type: "integer",
      minimum: 200,
      maximum: 599,
      description: "The status. A status outside of 2xx without a `body` makes an error.",
    },
    message: {
      type: "string",
      description: "The message of an error. Default: a text with the status.",
    },
    code: {
      type: "string",
      description: "The code of an error, as in OpenAI's API. Example: `context_length_exceeded`.",
    },
    headers: {
      ...HEADERS,
      description: 'Headers of the response. Example: `{ retry-after: "0" }`.',
    },
    body: {
      type: ["object", "array", "string"],
      description:
        "The body in the provider's own format; the provider's plugin decodes it. A string is sent unchanged.",
    },
    events: {
      type: "array",
      description:
        "Events of a stream in the provider's own format: the data of each. A string is sent unchanged.",
      items: { type: ["object", "string"], description: "One event." },
    },
    cut_after: {
      ...COUNT,
      description:
        "The connection closes after this number of events of a stream, or pieces of a body.",
    },
    silent_after: {
      ...COUNT,
      description:
        "The upstream stops sending after this number of events. Timeouts of providers are 100 ms in tests.",
    },
    silent: {
      type: "boolean",
      const: true,
      description:
        "The upstream does not answer. The provider's `first_byte` timeout is 100 ms in tests.",
    },
    refused: { type: "boolean", const: true, description: "The upstream refuses the connection." },
  },
} as const satisfies JsonObject;

const expectSchema = {
  type: "object",
  description: "The expectations. All of them must hold.",
  additionalProperties: false,
  minProperties: 1,
  properties: {
    status: {
      type: "integer",
      minimum: 200,
      maximum: 599,
      description: "The status of the reply.",
    },
    error: {
      type: "string",
      minLength: 1,
      description: "The error's code, as docs/errors.md lists them.",
    },
    headers: { ...HEADERS, description: "Headers of the reply. `*` matches any value." },
    headers_lack: { ...NAMES, description: "Headers that the reply must not have." },
    body: members("Values of the reply's body."),
    body_has: textOrTexts("Texts that the reply's body must contain."),
    body_lacks: textOrTexts("Texts that the reply's body must not contain."),
    text: { type: "string", description: "The text of the reply, streamed or whole." },
    targets: {
      ...NAMES,
      description: "The targets that were called, in order. Example: `[openai/gpt-4o]`.",
    },
    upstream_calls: { ...COUNT, description: "The number of upstream calls." },
    upstream_body: members(
      "Values of the last upstream call's body, in the provider's own dialect.",
    ),
    upstream_body_has: textOrTexts(
      "Texts of which each must be in the body of at least one upstream call.",
    ),
    upstream_body_lacks: textOrTexts("Texts that no body of an upstream call may contain."),
    rows: {
      type: "array",
      items: {
        type: "string",
        enum: ["success", "failure", "partial"],
        description: "A row's status.",
      },
      description: "The statuses of the spend rows, in order. `[]`: none.",
    },
    cost: {
      type: "number",
      minimum: 0,
      maximum: 8_000_000,
      description: "Total cost of all rows, in US dollars.",
    },
  },
} as const satisfies JsonObject;

/** The schema of `tests:`. */
export const testsSchema = {
  type: "array",
  default: [],
  maxItems: 200,
  description:
    "Tests of the pipeline. `sluice test`, the start and every edit run them. A failed test refuses the edit.",
  items: {
    type: "object",
    description:
      "A request, the outcomes of its upstream calls, and the expectations. The test sends nothing over the network and stores nothing.",
    additionalProperties: false,
    required: ["name", "expect"],
    properties: {
      name: {
        type: "string",
        minLength: 1,
        maxLength: 200,
        description: "What the test shows, as a sentence.",
      },
      route: {
        type: "string",
        pattern: "^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /\\S*$",
        description:
          "Method and path, with a query if there is one. Default: the first route. Example: `GET /v1/models/echo`.",
      },
      key: keySchema,
      headers: { ...HEADERS, description: "Further request headers." },
      request: {
        type: ["object", "string"],
        description:
          "The body. A string is sent unchanged. Every test can use the models `sluice-test/NAME`: $1 for a million prompt tokens, $2 for a million completion tokens.",
      },
      upstream: {
        type: "array",
        items: outcomeSchema,
        description:
          "The outcomes of the upstream calls, in order, for all providers together. A further call fails the test.",
      },
      timeout: {
        type: "string",
        format: "duration",
        default: "5s",
        description: "Maximum time of the test, at most `10s`.",
      },
      expect: expectSchema,
    },
  },
} as const satisfies JsonSchema;

/** A key of a test. */
export type TestKeySection = Extract<FromSchema<typeof keySchema>, object>;

/** The scripted outcome of one upstream call. */
export interface TestOutcomeSection extends Omit<FromSchema<typeof outcomeSchema>, "usage"> {
  readonly usage?: "none" | Extract<FromSchema<typeof outcomeSchema.properties.usage>, object>;
}

/** The expectations of a test. */
export type TestExpectSection = FromSchema<typeof expectSchema>;

/** One test after validation. */
export interface TestSection extends Omit<
  FromSchema<typeof testsSchema.items>,
  "key" | "upstream"
> {
  readonly key?: "none" | "master" | TestKeySection;
  readonly upstream?: readonly TestOutcomeSection[];
}
