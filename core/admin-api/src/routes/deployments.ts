/** Routes of deployments: targets as the balancer sees them. */

import {
  COUNT,
  COUNT_OR_NULL,
  FLAG,
  list,
  NUMBER_OR_NULL,
  object,
  orNull,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
  words,
} from "../schema.ts";

/** Members of a deployment. */
export const DEPLOYMENT_VIEW = {
  deployment: TEXT,
  provider: TEXT,
  model: TEXT,
  health: words("healthy", "ejected", "recovering"),
  breaker: words("closed", "open", "half_open"),
  ejected_until: TIME_OR_NULL,
  held_until: { ...TIME_OR_NULL, description: "Until when no request is sent to it." },
  credential_refused: FLAG,
  ejected_models: list(
    object({
      model: TEXT,
      operation: TEXT,
      breaker: words("closed", "open", "half_open"),
      ejected_until: TIME_OR_NULL,
    }),
  ),
  ejections: COUNT,
  consecutive_failures: COUNT,
  in_flight: COUNT,
  queued: COUNT,
  tokens: orNull(object({ limit: COUNT, reserved: COUNT, spent: COUNT })),
  latency_ms: { ...NUMBER_OR_NULL, description: "Moving average of the time to first content." },
  attempts: object({ total: COUNT, success: COUNT, failure: COUNT, other: COUNT }),
} as const;

const EVENT = object({
  at: TIME,
  kind: words("failed", "ejected", "recovered", "reset", "held", "released"),
  model: TEXT_OR_NULL,
  operation: TEXT_OR_NULL,
  code: { ...TEXT_OR_NULL, description: "The error code: docs/errors.md." },
  request_id: TEXT_OR_NULL,
  until: TIME_OR_NULL,
});

/** The routes. */
export const DEPLOYMENT_ROUTES = {
  "GET /deployments": {
    about: "List the deployments",
    answer: object({ deployments: list(object(DEPLOYMENT_VIEW)) }),
  },
  "GET /deployments/*id": {
    about: "Read a deployment, its last 20 events and its attempts by minute",
    answer: object({
      ...DEPLOYMENT_VIEW,
      events: { ...list(EVENT), description: "The newest first." },
      minutes: {
        ...list(
          object({
            at: TIME,
            success: COUNT,
            failure: COUNT,
            other: COUNT,
            latency_ms: NUMBER_OR_NULL,
          }),
        ),
        description: "Minutes of the last hour that had attempts, the oldest first.",
      },
    }),
  },
  "POST /deployments/*id/reset": {
    about: "Make a deployment healthy",
    body: object({}),
    answer: object({ deployment: TEXT, reset: FLAG }),
  },
  "POST /deployments/*id/hold": {
    about: "Send no request to a deployment for a while",
    body: object(
      {},
      { for: { ...TEXT, description: "A span of at most a day. 30m unless given." } },
    ),
    answer: object({ deployment: TEXT, held_until: TIME }),
  },
  "POST /deployments/*id/release": {
    about: "End the hold of a deployment",
    body: object({}),
    answer: object({ deployment: TEXT, held_until: TIME_OR_NULL }),
  },
} as const;

const SERIES = { type: "array", items: { type: "number" } } as const;
const QUANTILES = { type: "array", items: { type: ["number", "null"] } } as const;

/** The overview. */
export const OVERVIEW_ROUTES = {
  "GET /overview": {
    about: "Read how the gateway is",
    query: object(
      {},
      { window: { ...words("15m", "1h", "6h", "24h"), description: "1h unless given." } },
    ),
    answer: object({
      from: { ...TIME, description: "The begin of the first step." },
      step_s: COUNT,
      series: {
        ...object({
          requests: SERIES,
          client_errors: SERIES,
          gateway_errors: SERIES,
          upstream_errors: SERIES,
          cost: SERIES,
          first_content_p50_ms: QUANTILES,
          first_content_p95_ms: QUANTILES,
          overhead_p50_ms: QUANTILES,
          overhead_p95_ms: QUANTILES,
        }),
        description: "One number for each step, at most 360. Since the start of the processes.",
      },
      now: object({
        requests_per_second: { type: "number" },
        cost_per_minute: NUMBER_OR_NULL,
        in_flight: COUNT,
        queued: COUNT,
      }),
      generation: COUNT_OR_NULL,
      canary: COUNT_OR_NULL,
      marks: list(
        object({
          at: TIME,
          generation: COUNT,
          origin: TEXT,
          author: TEXT_OR_NULL,
          risk: TEXT_OR_NULL,
          returned: { ...TEXT_OR_NULL, description: "Why the canary was returned." },
        }),
      ),
      deployments: object({
        total: COUNT,
        worst: list(
          object({
            deployment: TEXT,
            breaker: words("closed", "open", "half_open"),
            held_until: TIME_OR_NULL,
            credential_refused: FLAG,
            success: { ...COUNT, description: "Of the last 15 minutes, as failure." },
            failure: COUNT,
            last: orNull(object({ at: TIME, code: TEXT_OR_NULL })),
          }),
        ),
      }),
      budgets: object({
        total: { ...COUNT, description: "Budgets of which four fifths are used." },
        nearest: list(
          object({
            subject: TEXT,
            key_id: TEXT_OR_NULL,
            user_id: TEXT_OR_NULL,
            team_id: TEXT_OR_NULL,
            organization_id: TEXT_OR_NULL,
            customer_id: TEXT_OR_NULL,
            tag: TEXT_OR_NULL,
            provider: TEXT_OR_NULL,
            used: NUMBER_OR_NULL,
            max_budget: NUMBER_OR_NULL,
            part: { type: "number" },
            resets_at: TIME_OR_NULL,
            seen_at: TIME,
          }),
        ),
      }),
      attention: list(
        object({
          key: TEXT,
          risk: words("danger", "caution"),
          text: TEXT,
          next: { ...TEXT, description: "What to do about it." },
          screen: words("history", "models", "keys", "system"),
        }),
      ),
    }),
  },
} as const;
