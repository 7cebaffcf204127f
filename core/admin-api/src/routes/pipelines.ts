/** Routes of pipelines: the steps of every route, and what protects it. */

import {
  COUNT,
  COUNT_OR_NULL,
  FLAG,
  list,
  NUMBER_OR_NULL,
  object,
  OPEN,
  orNull,
  TEXT,
  TEXT_OR_NULL,
  TEXTS,
  words,
} from "../schema.ts";

const STEP = object({
  step: TEXT,
  about: { ...TEXT_OR_NULL, description: "What a step of this name does." },
  file: TEXT,
  line: COUNT,
  options: { ...orNull(OPEN), description: "As they are written: references are not resolved." },
  when: orNull(OPEN),
  active: orNull(OPEN),
  mode: words("enforce", "shadow"),
  on_error: words("fail", "skip"),
  timeout_ms: COUNT_OR_NULL,
  provides: { ...TEXTS, description: "Capabilities, such as identity." },
  figures: {
    ...object({
      requests: COUNT,
      p50_ms: { ...NUMBER_OR_NULL, description: "Of its own, without the steps within." },
      refused: COUNT,
      failed: COUNT,
    }),
    description: "Of the requests whose explanation is kept.",
  },
  shadow: {
    ...orNull(
      object({ runs: COUNT, refused: COUNT, answered: COUNT, changed: COUNT, failed: COUNT }),
    ),
    description: "What it would have done. null: it is enforced.",
  },
});

/** A line of `sluice check --coverage`. */
const COVERAGE = object({
  route: TEXT,
  pipeline: TEXT,
  operation: TEXT,
  auth: FLAG,
  limits: FLAG,
  budget: FLAG,
  cost: FLAG,
  guardrails_in: TEXTS,
  guardrails_out: TEXTS,
  stream: { ...TEXT, description: "How guardrails check a stream; yes, or no." },
  deadline_ms: COUNT,
  tests: COUNT,
  file: TEXT,
  line: COUNT,
});

/** The routes. */
export const PIPELINE_ROUTES = {
  "GET /pipelines": {
    about: "List the pipelines that serve, with their steps, outermost first",
    answer: object({
      generation: COUNT_OR_NULL,
      pipelines: list(
        object({
          pipeline: TEXT,
          file: TEXT,
          line: COUNT,
          is_shipped: { ...FLAG, description: "Whether the file came with the gateway." },
          operation: TEXT,
          deadline_ms: COUNT,
          routes: list(object({ route: TEXT, face: TEXT_OR_NULL, file: TEXT, line: COUNT })),
          tests: list(object({ name: TEXT, file: TEXT, line: COUNT })),
          steps: list(STEP),
        }),
      ),
    }),
  },
  "GET /config/coverage": {
    about: "Read what protects each route, as sluice check --coverage prints it",
    answer: object({ generation: COUNT_OR_NULL, routes: list(COVERAGE) }),
  },
  "GET /config/schema": {
    about: "Read the JSON Schemas of the files, with the options of the loaded plugins",
    answer: object({
      gateway: { ...OPEN, description: "Of the gateway file." },
      pipeline: OPEN,
      prices: OPEN,
    }),
  },
} as const;
