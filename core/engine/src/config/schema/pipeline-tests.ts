/** The section `tests:` of a pipeline file. */

import type { JsonObject, JsonSchema } from "@sluice/contract";

const NAMES: JsonObject = { type: "array", items: { type: "string", minLength: 1, description: "One name." } };
const TEXTS: JsonObject = { type: "array", items: { type: "string", minLength: 1, description: "One text." } };
const COUNT: JsonObject = { type: "integer", minimum: 0 };
const HEADERS: JsonObject = {
  type: "object",
  propertyNames: { pattern: "^[A-Za-z0-9-]+$" },
  additionalProperties: { type: "string", description: "The header's value." },
};
/** The schema of one text, or of several. */
const textOrTexts = (description: string): JsonObject => ({
  type: ["string", "array"],
  items: TEXTS["items"] as JsonObject,
  description,
});
const members = (description: string): JsonObject => ({
  type: "object",
  description: `${description} Paths are written \`choices[0].message.content\`.`,
  additionalProperties: { description: "The expected value at this path." },
});

const keySchema: JsonObject = {
  type: ["string", "object"],
  description:
    "The key of the request. `none`: no key. `master`: the master key. Else a key with these properties. Absent: a key without limits.",
  pattern: "^(none|master)$",
  additionalProperties: false,
  properties: {
    alias: { type: "string", minLength: 1, description: "The name of the key." },
    user_id: { type: "string", minLength: 1, description: "The user of the key." },
    team_id: { type: "string", minLength: 1, description: "The team of the key." },
    models: { ...NAMES, description: "Model ids, wildcards and access groups that the key may use. Absent: every model." },
    team_models: { ...NAMES, description: "Models that the key's team may use. Absent: every model." },
    guardrails: { ...NAMES, description: "Guardrails that the key's requests must pass." },
    passthrough: { type: "boolean", description: "Whether the key may call every native path of the providers. Default: false." },
    tags: { ...NAMES, description: "The key's tags." },
    metadata: { type: "object", description: "The key's notes." },
    max_budget: { type: "number", minimum: 0, maximum: 8_000_000, description: "US dollars that the key may spend." },
    soft_budget: { type: "number", minimum: 0, description: "US dollars above which the step limits warns." },
    rpm: { ...COUNT, description: "Requests in any minute." },
    tpm: { ...COUNT, description: "Tokens in any minute." },
    max_parallel: { ...COUNT, description: "Concurrent requests." },
  },
};
const outcomeSchema: JsonObject = {
  type: "object",
  description: "The outcome of one upstream call. Without members: a success.",
  additionalProperties: false,
  properties: {
    reply: { type: "string", description: "Text of a successful reply, for every provider's dialect. Default: `ok`." },
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
    finish_reason: { type: "string", minLength: 1, description: "Why the reply ends. Default: `stop`, or `tool_calls`." },
    usage: {
      type: ["object", "string"],
      description: "The usage that the upstream reports. `none`: it reports none. Default: 10 prompt and 5 completion tokens.",
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
    message: { type: "string", description: "The message of an error. Default: a text with the status." },
    code: {
      type: "string",
      description: "The code of an error, as in OpenAI's API. Example: `context_length_exceeded`.",
    },
    headers: { ...HEADERS, description: 'Headers of the response. Example: `{ retry-after: "0" }`.' },
    body: {
      type: ["object", "array", "string"],
      description: "The body in the provider's own format; the provider's plugin decodes it. A string is sent unchanged.",
    },
    events: {
      type: "array",
      description: "Events of a stream in the provider's own format: the data of each. A string is sent unchanged.",
      items: { type: ["object", "string"], description: "One event." },
    },
    cut_after: { ...COUNT, description: "The connection closes after this number of events of a stream, or pieces of a body." },
    silent_after: {
      ...COUNT,
      description: "The upstream stops sending after this number of events. Timeouts of providers are 100 ms in tests.",
    },
    silent: {
      type: "boolean",
      const: true,
      description: "The upstream does not answer. The provider's `first_byte` timeout is 100 ms in tests.",
    },
    refused: { type: "boolean", const: true, description: "The upstream refuses the connection." },
  },
};

const expectSchema: JsonObject = {
  type: "object",
  description: "The expectations. All of them must hold.",
  additionalProperties: false,
  minProperties: 1,
  properties: {
    status: { type: "integer", minimum: 200, maximum: 599, description: "The status of the reply." },
    error: { type: "string", minLength: 1, description: "The error's code, as docs/errors.md lists them." },
    headers: { ...HEADERS, description: "Headers of the reply. `*` matches any value." },
    headers_lack: { ...NAMES, description: "Headers that the reply must not have." },
    body: members("Values of the reply's body."),
    body_has: textOrTexts("Texts that the reply's body must contain."),
    body_lacks: textOrTexts("Texts that the reply's body must not contain."),
    text: { type: "string", description: "The text of the reply, streamed or whole." },
    targets: { ...NAMES, description: "The targets that were called, in order. Example: `[openai/gpt-4o]`." },
    upstream_calls: { ...COUNT, description: "The number of upstream calls." },
    upstream_body: members("Values of the last upstream call's body, in the provider's own dialect."),
    upstream_body_has: textOrTexts("Texts of which each must be in the body of at least one upstream call."),
    upstream_body_lacks: textOrTexts("Texts that no body of an upstream call may contain."),
    rows: {
      type: "array",
      items: { type: "string", enum: ["success", "failure", "partial"], description: "A row's status." },
      description: "The statuses of the spend rows, in order. `[]`: none.",
    },
    cost: { type: "number", minimum: 0, maximum: 8_000_000, description: "Total cost of all rows, in US dollars." },
  },
};

/** The schema of `tests:`. */
export const testsSchema: JsonSchema = {
  type: "array",
  default: [],
  maxItems: 200,
  description: "Tests of the pipeline. `sluice test`, the start and every edit run them. A failed test refuses the edit.",
  items: {
    type: "object",
    description:
      "A request, the outcomes of its upstream calls, and the expectations. The test sends nothing over the network and stores nothing.",
    additionalProperties: false,
    required: ["name", "expect"],
    properties: {
      name: { type: "string", minLength: 1, maxLength: 200, description: "What the test shows, as a sentence." },
      route: {
        type: "string",
        pattern: "^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /\\S*$",
        description: "Method and path, with a query if there is one. Default: the first route. Example: `GET /v1/models/echo`.",
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
        description: "The outcomes of the upstream calls, in order, for all providers together. A further call fails the test.",
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
};

/** A key of a test. */
export interface TestKeySection {
  readonly alias?: string;
  readonly user_id?: string;
  readonly team_id?: string;
  readonly models?: readonly string[];
  readonly team_models?: readonly string[];
  readonly guardrails?: readonly string[];
  readonly passthrough?: boolean;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly max_budget?: number;
  readonly soft_budget?: number;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly max_parallel?: number;
}

/** The scripted outcome of one upstream call. */
export interface TestOutcomeSection {
  readonly reply?: string;
  readonly chunks?: readonly string[];
  readonly tool_calls?: readonly { readonly name: string; readonly arguments: string }[];
  readonly finish_reason?: string;
  readonly usage?: "none" | { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly status?: number;
  readonly message?: string;
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly events?: readonly unknown[];
  readonly cut_after?: number;
  readonly silent_after?: number;
  readonly silent?: true;
  readonly refused?: true;
}

/** The expectations of a test. */
export interface TestExpectSection {
  readonly status?: number;
  readonly error?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly headers_lack?: readonly string[];
  readonly body?: Readonly<Record<string, unknown>>;
  readonly body_has?: string | readonly string[];
  readonly body_lacks?: string | readonly string[];
  readonly text?: string;
  readonly targets?: readonly string[];
  readonly upstream_calls?: number;
  readonly upstream_body?: Readonly<Record<string, unknown>>;
  readonly upstream_body_has?: string | readonly string[];
  readonly upstream_body_lacks?: string | readonly string[];
  readonly rows?: readonly string[];
  readonly cost?: number;
}

/** One test after validation. */
export interface TestSection {
  readonly name: string;
  readonly route?: string;
  readonly key?: "none" | "master" | TestKeySection;
  readonly headers?: Readonly<Record<string, string>>;
  readonly request?: string | Readonly<Record<string, unknown>>;
  readonly upstream?: readonly TestOutcomeSection[];
  readonly timeout: string;
  readonly expect: TestExpectSection;
}
