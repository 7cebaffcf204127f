/** Reports of spend: sums of the ledger's rows. */

import {
  COUNT,
  list,
  NUMBER,
  NUMBER_OR_NULL,
  object,
  OPEN,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  words,
} from "../schema.ts";

/** The ids that rows must have, all of them. */
const FILTERS = {
  organization_id: TEXT,
  team_id: TEXT,
  user_id: TEXT,
  api_key: TEXT,
  tag: TEXT,
  model: TEXT,
  provider: TEXT,
  end_user: TEXT,
} as const;

const FROM = { ...TEXT, description: "A date or a time in UTC, inclusive." } as const;
const TO = { ...TEXT, description: "Exclusive for a time, inclusive for a date." } as const;

/** Parameters of a report. The route itself says which go together. */
const REPORT_QUERY = Object.freeze({
  group_by: {
    ...TEXT,
    description: "One or two of organization, team, user, key, tag, model, provider, customer.",
  },
  bucket: { ...TEXT, description: "none, hour or day." },
  order: { ...TEXT, description: "group or spend." },
  from: FROM,
  to: TO,
  limit: TEXT,
  cursor: TEXT,
  format: { ...TEXT, description: "json or csv." },
  ...FILTERS,
});

const AMOUNTS = {
  spend: { ...NUMBER, description: "Known costs, in dollars." },
  lost_spend: { ...NUMBER, description: "The part of it that is of failed and partial rows." },
  spend_nano_usd: { ...TEXT, description: "The spend, exactly." },
  requests: COUNT,
  rows: COUNT,
  failed_rows: COUNT,
  partial_rows: COUNT,
  unpriced_rows: COUNT,
  estimated_rows: COUNT,
  cache_hits: COUNT,
  prompt_tokens: COUNT,
  completion_tokens: COUNT,
  total_tokens: COUNT,
  cached_tokens: COUNT,
  reasoning_tokens: COUNT,
} as const;

const GROUP = object(
  {
    ...AMOUNTS,
    spend_before: {
      ...NUMBER_OR_NULL,
      description:
        "The spend of the span before. null: it had none, or was not among the 1,000 highest.",
    },
  },
  {
    organization_id: TEXT_OR_NULL,
    team_id: TEXT_OR_NULL,
    user_id: TEXT_OR_NULL,
    api_key: TEXT_OR_NULL,
    key_alias: TEXT_OR_NULL,
    tag: TEXT_OR_NULL,
    model: TEXT_OR_NULL,
    provider: TEXT_OR_NULL,
    end_user: TEXT_OR_NULL,
  },
);

/** The routes. */
export const SPEND_ROUTES = {
  "GET /spend/report": {
    about: "Report sums of money, tokens and requests",
    query: object({}, REPORT_QUERY),
    answer: { ...OPEN, description: "docs/spend.md has the members." },
    texts: ["text/csv"],
  },
  "GET /spend/summary": {
    about: "Sum up a span of time: in all, by hour or day, and the groups that spent most",
    query: object(
      {
        from: FROM,
        to: TO,
        bucket: words("hour", "day"),
        group_by: words(
          "organization",
          "team",
          "user",
          "key",
          "tag",
          "model",
          "provider",
          "customer",
        ),
      },
      FILTERS,
    ),
    answer: object({
      from: TIME,
      to: TIME,
      before_from: { ...TIME, description: "The begin of the span before, of the same length." },
      total: object(AMOUNTS),
      times: {
        ...list(object({ start: TIME, spend: NUMBER, lost_spend: NUMBER })),
        description: "Hours or days that have rows, in UTC.",
      },
      groups: { ...list(GROUP), description: "The highest spend first, 50 at most." },
    }),
  },
} as const;
