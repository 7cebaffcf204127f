/** The static part of a pipeline file: everything but the options of steps. */

import type { JsonSchema, Operation } from "@sluice/spec";
import { endMarkSchema } from "../end-mark.ts";
import { type TestSection, testsSchema } from "./pipeline-tests.ts";
import { stepUseProperties, type StepUseSection } from "./step-use.ts";

/** What a route looks like: a method, a space, a path; `{id}` takes a segment, `{rest...}` takes one or more. */
const ROUTE_PATTERN =
  "^(?!.*\\.\\.\\.\\}.*\\.\\.\\.\\})(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /(([A-Za-z0-9._~:@!$&'()*+,;=%-]+|\\{[a-z_]+(\\.\\.\\.)?\\})/)*([A-Za-z0-9._~:@!$&'()*+,;=%-]*|\\{[a-z_]+(\\.\\.\\.)?\\})$";

/** The schema of a step's long form, its options left open: those are checked step by step. */
export const stepSchema: JsonSchema = {
  type: "object",
  description: "A step with options.",
  additionalProperties: false,
  required: ["use"],
  properties: {
    use: { type: "string", minLength: 1, description: "The step's name." },
    with: { type: "object", default: {}, description: "The step's options." },
    ...stepUseProperties,
  },
};

/** The schema of a pipeline file with every step left open. */
export const pipelineSchema: JsonSchema = {
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
      description: "The routes it serves.",
      items: {
        type: "string",
        pattern: ROUTE_PATTERN,
        description: "METHOD /path, such as POST /v1/chat/completions; `{id}` takes a segment.",
      },
    },
    operation: {
      type: "string",
      enum: ["chat", "embeddings", "images", "passthrough", "models", "spend", "embedding", "image"],
      description: "What its requests are. `embedding` and `image` mean `embeddings` and `images`.",
    },
    deadline: {
      type: "string",
      format: "duration",
      default: "600s",
      description: "One clock for everything a request waits for.",
    },
    heartbeat: {
      type: "string",
      format: "duration",
      default: "15s",
      description:
        "How long a stream may be silent behind its first content; then a comment, `: ping`, keeps its connection alive. `0s`: for ever.",
    },
    steps: { type: "array", minItems: 1, description: "Outermost first. A bare name means no options." },
    tests: testsSchema,
    test_budget: {
      type: "string",
      format: "duration",
      default: "10s",
      description: "How long all tests of the file may take together, `60s` at most. Those that it leaves out count as failed.",
    },
    end_of_config: endMarkSchema,
  },
};

/** A pipeline file after validation: every step in its long form. */
export interface PipelineSections {
  readonly pipeline: string;
  readonly routes: readonly string[];
  readonly operation: Operation;
  readonly deadline: string;
  readonly heartbeat: string;
  readonly steps: readonly StepSection[];
  readonly tests: readonly TestSection[];
  readonly test_budget: string;
}

/** The long form of a step after validation. */
export interface StepSection extends StepUseSection {
  readonly use: string;
  readonly with: Readonly<Record<string, unknown>>;
}
