/** The system: processes, store, shared state, plugins; and the audit. */

import {
  ANY,
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
  TIME,
  words,
} from "../schema.ts";

const PROCESS = object({
  worker: { ...COUNT_OR_NULL, description: "null where one process is the gateway." },
  pid: COUNT,
  uptime_s: COUNT,
  memory_bytes: { ...COUNT, description: "Resident memory." },
  heap_bytes: { ...COUNT, description: "Of it, in use by JavaScript." },
  cpu_s: { type: "number", minimum: 0, description: "Processor time since the start." } as const,
  loop_delay_p99_ms: {
    ...NUMBER_OR_NULL,
    description: "How late the event loop comes round. null: not yet known.",
  },
  open_files: COUNT_OR_NULL,
  in_flight: COUNT,
  outbox_batches: COUNT,
  ledger_lag_ms: COUNT,
  kept_rows: COUNT,
});

const AUDIT_LINE = object({
  seq: COUNT,
  at: TIME,
  actor: TEXT,
  user_id: TEXT_OR_NULL,
  session: TEXT_OR_NULL,
  address: TEXT_OR_NULL,
  action: TEXT,
  object: TEXT_OR_NULL,
  organization_id: TEXT_OR_NULL,
  team_id: TEXT_OR_NULL,
  outcome: words("begun", "done", "refused", "failed"),
  before: orNull(OPEN),
  after: orNull(OPEN),
  request_id: TEXT_OR_NULL,
  prev_hash: TEXT,
  hash: TEXT,
});

const AUDIT_FILTERS = {
  actor: { ...TEXT, description: "The id of a key, master or read_key." },
  user: TEXT,
  action: TEXT,
  object: { ...TEXT, description: "A kind with an id: key:key_8fJx0PzLq2Rw." },
  outcome: words("begun", "done", "refused", "failed"),
  since: { ...TEXT, description: "A span such as 24h, or a time in ISO 8601." },
  until: TEXT,
  cursor: TEXT,
} as const;

/** The routes. */
export const SYSTEM_ROUTES = {
  "GET /metrics": {
    about: "Read the metrics",
    ignoresOtherQuery: true,
    answer: { ...ANY, description: "Prometheus text format: docs/metrics.md." },
    texts: ["text/plain"],
  },
  "GET /system": {
    about: "Read processes, store, shared state, event-loop blocks and plugins",
    answer: object({
      version: TEXT,
      node: TEXT,
      processes: list(PROCESS),
      store: object({
        use: TEXT,
        away: FLAG,
        changes_age_ms: {
          ...COUNT_OR_NULL,
          description: "Since the log of changes was read. null: the store has none.",
        },
        writable: { ...FLAG, description: "Whether spend rows can be stored." },
        fault: { ...TEXT_OR_NULL, description: "Why not." },
      }),
      shared: object({
        use: TEXT,
        away: { type: ["boolean", "null"], description: "null: it is in memory." } as const,
      }),
      blocks: {
        ...list(object({ plugin: TEXT, count: COUNT, total_ms: COUNT })),
        description: "Event-loop blocks since the start, by the plugin whose code ran.",
      },
      plugins: list(
        object({
          package: { ...TEXT, description: "As plugins: names it." },
          version: { ...TEXT_OR_NULL, description: "null: a file of the operator's own." },
          provides: { ...COUNT, description: "Steps, providers, guardrails and so on." },
        }),
      ),
    }),
  },
  "GET /system/checks": {
    about: "Look at the machine, the data folder, the store's server, shared state and providers",
    query: object(
      {},
      {
        online: {
          ...words("true", "false"),
          description: "true: providers are asked for their models, which is free.",
        },
      },
    ),
    answer: object({
      at: { ...TIME, description: "An answer is given again for five seconds." },
      checks: list(
        object({
          name: TEXT,
          grade: {
            ...words("ok", "warn", "fail", "skip"),
            description: "skip: it was not looked at.",
          },
          found: TEXT,
          fix: { ...TEXT_OR_NULL, description: "What to do." },
        }),
      ),
    }),
  },
  "GET /audit": {
    about: "List what administrators did",
    query: object(
      {},
      {
        ...AUDIT_FILTERS,
        order: { ...words("newest", "oldest"), description: "newest unless given." },
        limit: { type: "integer", minimum: 1, maximum: 1_000, description: "100 unless given." },
      },
    ),
    answer: object({ lines: list(AUDIT_LINE), next_cursor: TEXT_OR_NULL }),
  },
  "GET /audit/export": {
    about: "Export the audit as lines of JSON, 5,000 at most",
    query: object({}, AUDIT_FILTERS),
    answer: { ...ANY, description: "application/x-ndjson; x-sluice-next-cursor goes on." },
    texts: ["application/x-ndjson"],
  },
} as const;
