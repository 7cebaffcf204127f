/** What answers about the configuration have in common: findings, attempts, effects, canaries. */

import {
  ANY,
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
  words,
} from "../schema.ts";

/** A finding of a configuration. */
export const FINDING = object({
  file: TEXT,
  line: COUNT,
  column: COUNT,
  message: TEXT,
  fix: TEXT,
  text: { ...TEXT, description: "All of it as a line." },
});

/** Who made an edit. */
export const AUTHOR = object({
  name: TEXT,
  from: {
    ...words("caller", "file", "gateway"),
    description: "caller: the caller gave this name. file: a file was saved.",
  },
});

/** The risk of an effect. */
export const RISK = {
  ...words("danger", "caution", "safe"),
  description: "danger: it widens access, or breaks clients.",
} as const;

/** What a canary is asked with. */
export const CANARY_PLAN = object(
  { share: { ...TEXT, description: "Of the keys, such as 5%." } },
  {
    for: orNull({ ...TEXT, description: "How long it runs." }),
    abort_if: orNull({ ...TEXT, description: "error_rate>5% or p99>20s." }),
    min_requests: orNull(COUNT),
  },
);

/** The outcome of an attempt. */
const OUTCOME = words(
  "applied",
  "unchanged",
  "refused",
  "superseded",
  "canary",
  "promoted",
  "returned",
);

/** What became of an edit, in one process. */
export const ATTEMPT = object({
  outcome: OUTCOME,
  at: TIME,
  digest: TEXT_OR_NULL,
  generation: COUNT_OR_NULL,
  reason: TEXT_OR_NULL,
  author: TEXT_OR_NULL,
  findings: list(FINDING),
});

/** What became of an edit in every worker. */
export const EDIT_RESULT = object(ATTEMPT.properties, {
  workers: {
    ...list(object({ worker: COUNT, outcome: TEXT, generation: COUNT_OR_NULL })),
    description: "With several workers: no_answer and not_asked are further outcomes.",
  },
});

/** One effect of an edit. */
export const EFFECT = object({
  risk: RISK,
  about: { ...TEXT, description: "Such as model fast." },
  message: TEXT,
  file: { ...TEXT_OR_NULL, description: "Where it is in the candidate; null for what is gone." },
  line: COUNT_OR_NULL,
  text: TEXT,
});

const REPLAYED = object({
  count: COUNT,
  groups: list(object({ what: TEXT, count: COUNT })),
});

/** The newest requests under a candidate. */
export const REPLAY = object({
  evaluated: COUNT,
  blocked: { ...REPLAYED, description: "Served by what runs, refused by the candidate." },
  admitted: REPLAYED,
  provider: REPLAYED,
  model: REPLAYED,
  steps: REPLAYED,
  unfit: REPLAYED,
  spend: object({
    requests: COUNT,
    did_cost: NUMBER_OR_NULL,
    would_cost: object({ least: NUMBER_OR_NULL, most: NUMBER_OR_NULL }),
    refused: NUMBER_OR_NULL,
    unknown: COUNT,
  }),
});

/** Members of an answer that says what an edit changes. */
export const IMPACT = {
  risk: RISK,
  danger: COUNT,
  caution: COUNT,
  safe: COUNT,
  effects: { ...list(EFFECT), description: "The worst first." },
} as const;

const SIDE = { requests: COUNT, errors: COUNT, p99_ms: NUMBER_OR_NULL } as const;

/** What a step in shadow mode would have done. */
export const SHADOW = object({
  pipeline: TEXT,
  step: TEXT,
  file: TEXT,
  line: COUNT,
  runs: COUNT,
  refused: COUNT,
  answered: COUNT,
  changed: COUNT,
  failed: COUNT,
});

/** A canary that runs. */
export const CANARY = object({
  generation: COUNT,
  digest: TEXT,
  share: TEXT,
  since: TIME,
  ends_at: TIME,
  abort_if: object({ error_rate: TEXT_OR_NULL, p99_ms: NUMBER_OR_NULL }),
  min_requests: COUNT,
  leases: COUNT,
  ...SIDE,
  others: object(SIDE),
  shadows: list(SHADOW),
});

/** The health of the ledger, of the store, and the leader of the processes that share one. */
export const LEDGER_HEALTH = object({
  writable: FLAG,
  fault: orNull(object({ place: TEXT, text: TEXT })),
  store_failing: FLAG,
  kept_rows: COUNT,
  outbox_batches: COUNT,
});
export const STORE_HEALTH = object({
  away: FLAG,
  serves: words("all", "known", "none"),
  changes_age_ms: COUNT_OR_NULL,
});
export const LEADER = object({
  is_self: FLAG,
  holder: TEXT_OR_NULL,
  since: { ...TEXT_OR_NULL, format: "date-time" },
  jobs: list(object({ job: TEXT, at: TIME, did: ANY, error: ANY })),
});

/** How a generation came to be. */
export const ORIGIN = {
  origin: {
    type: ["string", "null"],
    enum: ["start", "files", "push", "rollback", "last_good", "canary", null],
  },
  contents_of: COUNT_OR_NULL,
  forced: FLAG,
  reason: TEXT_OR_NULL,
  author: orNull(AUTHOR),
} as const;
