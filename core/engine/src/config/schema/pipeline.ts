/** The static part of a pipeline file: everything but the options of steps. */

import type { JsonSchema, Operation } from "@sluice/contract";
import { endMarkSchema } from "../files/end-mark.ts";
import { type TestSection, testsSchema } from "./pipeline-tests.ts";
import { stepUseProperties } from "./step-use.ts";
import type { FromSchema } from "./from-schema.ts";

/**
 * The form of a route: a method, a space, a path. `{id}` matches one segment, `{rest...}` one or
 * more. A word may follow the last one: `{model...}:countTokens`.
 */
const ROUTE_PATTERN =
  "^(?!.*\\.\\.\\.\\}.*\\.\\.\\.\\})(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /(([A-Za-z0-9._~:@!$&'()*+,;=%-]+|\\{[a-z_]+(\\.\\.\\.)?\\})/)*([A-Za-z0-9._~:@!$&'()*+,;=%-]*|\\{[a-z_]+(\\.\\.\\.)?\\}(:[A-Za-z]+)?)$";

/** The schema of a step's long form. It leaves the options open: each step checks its own. */
export const stepSchema = {
  type: "object",
  description: "A step with options.",
  additionalProperties: false,
  required: ["use"],
  properties: {
    use: { type: "string", minLength: 1, description: "The step's name." },
    with: { type: "object", default: {}, description: "The step's options." },
    ...stepUseProperties,
  },
} as const satisfies JsonSchema;

/** The schema of a pipeline file with every step left open. */
export const pipelineSchema = {
  type: "object",
  description: "A pipeline: routes, and the steps that serve them.",
  additionalProperties: false,
  required: ["version", "pipeline", "routes", "operation", "steps"],
  properties: {
    version: { const: 1, description: "The version of this file's format." },
    pipeline: { type: "string", pattern: "^[a-z][a-z0-9-]*$", description: "The pipeline's name." },
    routes: {
      type: "array",
      minItems: 1,
      description: "The routes of the pipeline.",
      items: {
        type: ["string", "object"],
        pattern: ROUTE_PATTERN,
        description: "METHOD /path, such as POST /v1/chat/completions. `{id}` matches one segment.",
        additionalProperties: false,
        required: ["route", "face"],
        properties: {
          route: { type: "string", pattern: ROUTE_PATTERN, description: "METHOD /path." },
          face: {
            type: "string",
            minLength: 1,
            description:
              "The wire form of its clients, such as `{ route: POST /v1/messages, face: messages }`: the name of a face plugin. Without one, clients speak the reference dialect.",
          },
        },
      },
    },
    operation: {
      type: "string",
      enum: [
        "chat",
        "embeddings",
        "images",
        "passthrough",
        "models",
        "spend",
        "tokens",
        "responses",
        "embedding",
        "image",
      ],
      description:
        "The operation of its requests. `embedding` and `image` mean `embeddings` and `images`.",
    },
    deadline: {
      type: "string",
      format: "duration",
      default: "600s",
      description: "Deadline of a request. It covers everything that the request waits for.",
    },
    heartbeat: {
      type: "string",
      format: "duration",
      default: "15s",
      description:
        "Maximum silence of a stream after its first content. Then the gateway sends the comment `: ping` to keep the connection open. `0s`: no limit, no comment.",
    },
    steps: {
      type: "array",
      minItems: 1,
      description: "The steps, outermost first. A bare name means no options.",
    },
    tests: testsSchema,
    test_budget: {
      type: "string",
      format: "duration",
      default: "10s",
      description:
        "Time for all tests of the file together, at most `60s`. Tests that do not run in this time count as failed.",
    },
    end_of_config: endMarkSchema,
  },
} as const satisfies JsonSchema;

/** A route of a pipeline file, in its long form. */
export interface RouteSection {
  readonly route: string;
  readonly face: string | undefined;
}

/** The long form of a route, as far as the entry says it. */
export function routeSection(entry: string | { readonly route: string; readonly face?: string }) {
  return typeof entry === "string"
    ? { route: entry, face: undefined }
    : { route: entry.route, face: entry.face };
}

/** A pipeline file after validation: every step in its long form. */
export interface PipelineSections extends Omit<
  FromSchema<typeof pipelineSchema>,
  "operation" | "steps" | "tests"
> {
  /** `embedding` and `image` are `embeddings` and `images` by then. */
  readonly operation: Operation;
  readonly steps: readonly StepSection[];
  readonly tests: readonly TestSection[];
}

/** The long form of a step after validation. */
export type StepSection = FromSchema<typeof stepSchema>;
