/** The section `tests:` of a pipeline file. */

import type { JsonObject, JsonSchema } from "@sluice/spec";

const NAMES: JsonObject = { type: "array", items: { type: "string", minLength: 1, description: "One name." } };
const TEXTS: JsonObject = { type: "array", items: { type: "string", minLength: 1, description: "One text." } };
const COUNT: JsonObject = { type: "integer", minimum: 0 };
const HEADERS: JsonObject = {
  type: "object",
  propertyNames: { pattern: "^[A-Za-z0-9-]+$" },
  additionalProperties: { type: "string", description: "The header's value." },
};
/** A text, or several of them. */
const textOrTexts = (description: string): JsonObject => ({
  type: ["string", "array"],
  items: TEXTS["items"] as JsonObject,
  description,
});
const members = (description: string): JsonObject => ({
  type: "object",
  description: `${description} Paths are written \`choices[0].message.content\`.`,
  additionalProperties: { description: "The value that stands there." },
});

const keySchema: JsonObject = {
  type: ["string", "object"],
  description:
    "Who asks: `none` sends no key, `master` the master key; else a key of these properties. Absent: a key that may use everything.",
  pattern: "^(none|master)$",
  additionalProperties: false,
  properties: {
    alias: { type: "string", minLength: 1, description: "The key's name for people." },
    user_id: { type: "string", minLength: 1, description: "The user of the key." },
    team_id: { type: "string", minLength: 1, description: "The team of the key." },
    models: { ...NAMES, description: "Model ids, wildcards and access groups that the key may use. Absent: every model." },
    team_models: { ...NAMES, description: "The same of its team. Absent: every model." },
    guardrails: { ...NAMES, description: "Guardrails that the key's requests must pass." },
    passthrough: { type: "boolean", description: "Whether the key reaches every native path of the providers. Default: false." },
    tags: { ...NAMES, description: "The key's tags." },
    metadata: { type: "object", description: "The key's notes." },
    max_budget: { type: "number", minimum: 0, description: "US dollars that the key may spend." },
    soft_budget: { type: "number", minimum: 0, description: "US dollars from which on the key is warned." },
    rpm: { ...COUNT, description: "Requests in any minute." },
    tpm: { ...COUNT, description: "Tokens in any minute." },
    max_parallel: { ...COUNT, description: "Requests at the same time." },
  },
};
const outcomeSchema: JsonObject = {
  type: "object",
  description: "What one upstream call comes to. Without any member: a good reply.",
  additionalProperties: false,
  properties: {
    reply: { type: "string", description: "A good reply that says this, whatever the provider's dialect. Default: `ok`." },
    chunks: {
      type: "array",
      items: { type: "string", description: "One piece." },
      description: "The same, streamed in these pieces where the request streams.",
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
      description: "The usage that the upstream tells; `none`: it tells none. Default: 10 prompt and 5 completion tokens.",
      pattern: "^none$",
      additionalProperties: false,
      required: ["prompt_tokens", "completion_tokens"],
      properties: {
        prompt_tokens: { ...COUNT, description: "Tokens of the prompt." },
        completion_tokens: { ...COUNT, description: "Tokens of the reply." },
      },
    },
    status: { type: "integer", minimum: 200, maximum: 599, description: "The status. Not 2xx, and no `body`: an error of it." },
    message: { type: "string", description: "The message of an error. Default: one that names the status." },
    code: {
      type: "string",
      description: "The code of an error, in the words of the reference API. Example: `context_length_exceeded`.",
    },
    headers: { ...HEADERS, description: 'Headers of the response. Example: `{ retry-after: "0" }`.' },
    body: {
      type: ["object", "array", "string"],
      description: "The body as the provider's own API sends it, which the provider's plugin reads; a string goes out as it is.",
    },
    events: {
      type: "array",
      description: "Events of a stream as the provider's own API sends them: the data of each, a string as it is.",
      items: { type: ["object", "string"], description: "One event." },
    },
    cut_after: { ...COUNT, description: "The connection breaks after so many events of a stream, or pieces of a body." },
    silent_after: {
      ...COUNT,
      description: "Nothing more comes after so many events. Timeouts of providers are 100 ms in tests.",
    },
    silent: {
      type: "boolean",
      const: true,
      description: "No answer at all, until the provider's `first_byte` timeout: 100 ms in tests.",
    },
    refused: { type: "boolean", const: true, description: "No connection." },
  },
};

const expectSchema: JsonObject = {
  type: "object",
  description: "What must come of it. All of it must hold.",
  additionalProperties: false,
  minProperties: 1,
  properties: {
    status: { type: "integer", minimum: 200, maximum: 599, description: "The status of the reply." },
    error: { type: "string", minLength: 1, description: "The error's code, as docs/errors.md lists them." },
    headers: { ...HEADERS, description: "Headers of the reply; `*` stands for any value." },
    headers_lack: { ...NAMES, description: "Headers that the reply must not have." },
    body: members("Values of the reply's body."),
    body_has: textOrTexts("What the reply's body must contain."),
    body_lacks: textOrTexts("What it must not contain."),
    text: { type: "string", description: "What the reply says, streamed or not." },
    targets: { ...NAMES, description: "The targets that were called, in order. Example: `[openai/gpt-4o]`." },
    upstream_calls: { ...COUNT, description: "How many upstream calls there were." },
    upstream_body: members("Values of the last upstream call's body, in the provider's own dialect."),
    upstream_body_has: textOrTexts("What the bodies of the upstream calls must contain, one or the other."),
    upstream_body_lacks: textOrTexts("What none of them may contain."),
    rows: {
      type: "array",
      items: { type: "string", enum: ["success", "failure", "partial"], description: "A row's status." },
      description: "The statuses of the spend rows, in order. `[]`: none.",
    },
    cost: { type: "number", minimum: 0, description: "US dollars of all rows together." },
  },
};

/** The schema of `tests:`. */
export const testsSchema: JsonSchema = {
  type: "array",
  default: [],
  maxItems: 200,
  description:
    "Tests of the pipeline: run by `sluice test`, at the start and before every edit applies. One that fails refuses it.",
  items: {
    type: "object",
    description: "A request, what the upstream does, and what must come of it. Nothing of it leaves the process or is kept.",
    additionalProperties: false,
    required: ["name", "expect"],
    properties: {
      name: { type: "string", minLength: 1, maxLength: 200, description: "What is tested, as a sentence." },
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
          "The body; a string goes out as it is. The models `sluice-test/NAME` are there in every test, at 1 dollar a million prompt tokens and 2 for completions.",
      },
      upstream: {
        type: "array",
        items: outcomeSchema,
        description:
          "What the upstream calls come to, one after the other, whichever provider is called. One more fails the test.",
      },
      timeout: {
        type: "string",
        format: "duration",
        default: "2s",
        description: "How long the test may take, `10s` at most.",
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

/** What one upstream call comes to. */
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

/** What must come of a test. */
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
