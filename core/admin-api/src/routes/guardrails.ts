/** Reports of guardrails: what they did, and what those in shadow would have done. */

import { COUNT, list, object, TEXT, TEXT_OR_NULL, words } from "../schema.ts";

const VERDICTS = object({
  block: COUNT,
  edit: COUNT,
  error: COUNT,
  ask_again: COUNT,
});

/** The routes. */
export const GUARDRAIL_ROUTES = {
  "GET /guardrails/report": {
    about: "Read what guardrails did, and would have done, by route",
    query: object(
      {},
      { window: { ...words("1d", "7d", "30d", "90d"), description: "7d unless given." } },
    ),
    answer: object({
      from: { ...TEXT, description: "The first UTC day: 2026-01-31." },
      to: { ...TEXT, description: "The last UTC day." },
      routes: list(
        object({
          route: { ...TEXT, description: "METHOD /path, as the pipeline has it." },
          requests: { ...COUNT, description: "Requests that guardrails checked." },
          guardrails: list(
            object({
              guardrail: TEXT,
              direction: words("input", "output"),
              mode: {
                ...words("enforce", "shadow", "observe"),
                description: "As it was at the time of the requests.",
              },
              requests: { ...VERDICTS, description: "Requests by verdict." },
            }),
          ),
        }),
      ),
      days: {
        ...list(
          object({
            date: TEXT,
            requests: COUNT,
            blocked: COUNT,
            edited: COUNT,
            would_have_blocked: COUNT,
            would_have_edited: COUNT,
          }),
        ),
        description: "Every day of the window, the oldest first, over all routes.",
      },
      guardrails: {
        ...list(
          object({
            guardrail: TEXT,
            use: TEXT,
            mode: words("enforce", "shadow"),
            declared_in: TEXT,
            word: { ...TEXT_OR_NULL, description: "What to delete there to enforce it." },
          }),
        ),
        description: "Those of the live configuration.",
      },
      steps: {
        ...list(
          object({
            pipeline: TEXT,
            step: TEXT,
            declared_in: TEXT,
            word: { ...TEXT, description: "What to delete there to enforce it." },
            runs: COUNT,
            refused: COUNT,
            answered: COUNT,
            changed: COUNT,
            failed: COUNT,
          }),
        ),
        description: "Steps in shadow, since their generation began.",
      },
    }),
  },
} as const;
