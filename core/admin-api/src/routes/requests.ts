/** Routes of requests: the list, and the explanation of one. */

import {
  COUNT,
  COUNT_OR_NULL,
  FLAG,
  list,
  map,
  NUMBER_OR_NULL,
  object,
  orNull,
  TEXT,
  TEXT_OR_NULL,
  TEXTS,
  TIME,
  words,
} from "../schema.ts";

const SOURCE = {
  ...words("memory", "ledger"),
  description: "memory: the steps are known. ledger: the attempts alone are.",
} as const;
const KEY_NAME = object({ id: TEXT_OR_NULL, alias: TEXT_OR_NULL });

/** A request of the list. */
export const LISTED_REQUEST = object({
  request_id: TEXT,
  started_at: TIME,
  status: COUNT_OR_NULL,
  error: TEXT_OR_NULL,
  operation: TEXT_OR_NULL,
  model: TEXT_OR_NULL,
  deployment: TEXT_OR_NULL,
  key: KEY_NAME,
  attempts: COUNT,
  total_tokens: COUNT_OR_NULL,
  cost: NUMBER_OR_NULL,
  total_ms: COUNT_OR_NULL,
  generation: COUNT_OR_NULL,
  source: SOURCE,
});

/** The condition of a step, as the pipeline has it. */
const CONDITION = object(
  {},
  {
    model: TEXTS,
    key: TEXTS,
    user: TEXTS,
    team: TEXTS,
    tag: TEXTS,
    header: { ...map(TEXTS), description: "Values by the lower-case names of headers." },
    stream: FLAG,
  },
);

const STEP = object({
  step: TEXT,
  at: { ...TEXT, description: "The file and line that names the step." },
  when: orNull(CONDITION),
  outcome: words("not reached", "failed", "answered", "passed"),
  error: TEXT_OR_NULL,
  runs: COUNT,
  ms: { ...NUMBER_OR_NULL, description: "Its own time, without the steps that it called." },
  decisions: TEXTS,
});

const ATTEMPT = object({
  attempt: COUNT,
  deployment: TEXT_OR_NULL,
  provider: TEXT_OR_NULL,
  model: TEXT_OR_NULL,
  outcome: TEXT,
  status: COUNT_OR_NULL,
  error: TEXT_OR_NULL,
  start_ms: NUMBER_OR_NULL,
  first_content_ms: NUMBER_OR_NULL,
  end_ms: NUMBER_OR_NULL,
  upstream_ms: NUMBER_OR_NULL,
  prompt_tokens: COUNT_OR_NULL,
  completion_tokens: COUNT_OR_NULL,
  total_tokens: COUNT_OR_NULL,
  usage_source: TEXT_OR_NULL,
  cost: NUMBER_OR_NULL,
  cost_status: TEXT_OR_NULL,
  upstream_request_id: TEXT_OR_NULL,
  completion_id: TEXT_OR_NULL,
});

/** The explanation of one request. */
export const EXPLAINED_REQUEST = object({
  request_id: TEXT,
  source: SOURCE,
  route: TEXT_OR_NULL,
  operation: TEXT_OR_NULL,
  pipeline: TEXT_OR_NULL,
  generation: COUNT_OR_NULL,
  key: orNull(KEY_NAME),
  model: TEXT_OR_NULL,
  stream: orNull(FLAG),
  started_at: TIME,
  status: COUNT_OR_NULL,
  error: TEXT_OR_NULL,
  total_ms: NUMBER_OR_NULL,
  overhead_ms: NUMBER_OR_NULL,
  body_ms: NUMBER_OR_NULL,
  steps: orNull(list(STEP)),
  attempts: list(ATTEMPT),
});

/** The routes. */
export const REQUEST_ROUTES = {
  "GET /requests": {
    about: "List requests, newest first",
    query: object(
      {},
      {
        request_id: {
          ...TEXT,
          description: "That request alone, once it has ended. The other filters have no effect.",
        },
        guardrail: { ...TEXT, description: "Requests of which this guardrail has a verdict." },
        status: { ...TEXT, description: "ok, failed, a status such as 429, or an error code." },
        model: TEXT,
        key: { ...TEXT, description: "The id or alias of a key." },
        since: { ...TEXT, description: "A span such as 1h, or a time in ISO 8601." },
        limit: { type: "integer", minimum: 1, maximum: 100 },
        cursor: TEXT,
      },
    ),
    answer: object({
      requests: list(LISTED_REQUEST),
      next_cursor: TEXT_OR_NULL,
      limit: COUNT,
    }),
  },
  "GET /requests/:id": {
    about: "Explain a request, by its id or that of its completion",
    answer: EXPLAINED_REQUEST,
  },
} as const;
