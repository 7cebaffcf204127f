/** Routes of the configuration: what runs, what ran, comparisons, and changes. */

import {
  COUNT,
  COUNT_OR_NULL,
  FLAG,
  list,
  map,
  object,
  orNull,
  TEXT,
  TEXT_OR_NULL,
  TEXTS,
  TIME,
  TIME_OR_NULL,
  words,
} from "../schema.ts";
import {
  ATTEMPT,
  CANARY,
  CANARY_PLAN,
  EDIT_RESULT,
  FINDING,
  IMPACT,
  LEADER,
  LEDGER_HEALTH,
  ORIGIN,
  REPLAY,
  RISK,
  SHADOW,
  STORE_HEALTH,
} from "../shapes/config.ts";

const AUTHOR_NAME = orNull({ ...TEXT, description: "A name for the history." });
const SIDE = {
  anyOf: [
    { type: "string", enum: ["running", "files"] },
    { type: "integer", minimum: 1 },
    { type: "null" },
  ],
  description: "What runs, the files, or a generation.",
} as const;
/** Some of the files as texts; null leaves one out. */
const CANDIDATE = {
  ...map(TEXT_OR_NULL),
  description: "Contents by the names of files, laid over the files; null takes one away.",
} as const;

const STATUS = object(
  {
    version: TEXT,
    name: { ...TEXT_OR_NULL, description: "`server.name`." },
    live: orNull(
      object({
        generation: COUNT,
        digest: TEXT,
        since: TIME,
        leases: COUNT,
        files: list(object({ path: TEXT, digest: TEXT })),
        notices: TEXTS,
        ...ORIGIN,
        warnings: list(FINDING),
      }),
    ),
    drift: object({
      files_differ: FLAG,
      files: list(object({ path: TEXT, change: words("changed", "added", "removed") })),
    }),
    last_attempt: orNull(ATTEMPT),
    draining: list(
      object({ generation: COUNT, leases: COUNT, oldest_age_ms: COUNT }, { worker: COUNT }),
    ),
    canary: orNull(CANARY),
    judged: orNull(
      object({
        generation: COUNT,
        until: TIME,
        requests: COUNT,
        errors: COUNT,
        before: object({ requests: COUNT, errors: COUNT }),
      }),
    ),
    shadows: list(SHADOW),
    waiting_for_restart: { ...TEXTS, description: "Plugin files and settings that changed." },
    previous_key: orNull(
      object({ until: TIME, is_accepted: FLAG, uses: COUNT, last_used_at: TIME_OR_NULL }),
    ),
    ledger: orNull(LEDGER_HEALTH),
    store: orNull(STORE_HEALTH),
    leader: orNull(LEADER),
  },
  {
    source: {
      ...words("files", "store"),
      description: "Where the configuration is. Absent: no worker answers.",
    },
    workers_agree: FLAG,
    workers_expected: COUNT,
    supervisor: object({ pid: COUNT, version: TEXT, is_outdated: FLAG }),
    workers: {
      ...list(
        object(
          {
            worker: COUNT,
            pid: COUNT,
            answers: FLAG,
            generation: COUNT_OR_NULL,
            digest: TEXT_OR_NULL,
            leases: COUNT_OR_NULL,
            canary: COUNT_OR_NULL,
            differs: TEXT_OR_NULL,
          },
          { silent_ms: COUNT, held_by: TEXT_OR_NULL },
        ),
      ),
      description: "With several workers: what each of them runs.",
    },
  },
);

/** The routes. */
export const CONFIG_ROUTES = {
  "GET /config/status": {
    about: "Read what runs, and what became of the last edit",
    answer: STATUS,
  },
  "GET /config/history": {
    about: "List the generations and the attempts",
    query: object({}, { since: TEXT, until: TEXT }),
    answer: object({
      generations: {
        ...list(
          object({
            generation: COUNT,
            digest: TEXT,
            at: TIME,
            is_live: FLAG,
            ...ORIGIN,
            returned: { ...TEXT_OR_NULL, description: "Why a canary was returned." },
            changes: TEXTS,
            risk: RISK,
            effects: list(object({ risk: RISK, about: TEXT, message: TEXT, text: TEXT })),
          }),
        ),
        description: "The newest first.",
      },
      attempts: list(ATTEMPT),
    }),
  },
  "POST /config/reload": {
    about: "Read the files again and apply them",
    body: object(
      {},
      {
        force: orNull({ ...TEXT, description: "A digest that the shrink guard refused." }),
        canary: orNull(CANARY_PLAN),
        author: AUTHOR_NAME,
      },
    ),
    answer: EDIT_RESULT,
  },
  "POST /config/canary/promote": {
    about: "Let a canary serve all keys",
    body: object({}, { author: AUTHOR_NAME }),
    answer: EDIT_RESULT,
  },
  "POST /config/canary/abort": {
    about: "End a canary",
    body: object({}, { author: AUTHOR_NAME }),
    answer: EDIT_RESULT,
  },
  "POST /config/rollback": {
    about: "Apply the contents of an earlier generation",
    body: object(
      {},
      {
        generation: orNull({ ...COUNT, minimum: 1, description: "Absent: the one before." }),
        author: AUTHOR_NAME,
      },
    ),
    answer: EDIT_RESULT,
  },
  "GET /config/files": {
    about: "Read the texts of the configuration",
    query: object({}, { of: { ...TEXT, description: "running, files or a generation." } }),
    answer: object({
      of: { anyOf: [words("running", "files"), { type: "integer", minimum: 1 }] },
      digest: { ...TEXT, description: "Of names and texts: the base of an edit." },
      editor: {
        ...words("off", "propose", "write"),
        description: "What this listener takes: `server.admin.editor`.",
      },
      source: {
        ...words("files", "store"),
        description: "Where the configuration is: `config.source`. The store takes pushes.",
      },
      reload: {
        ...words("on_save", "on_request"),
        description: "`server.reload`: a canary needs on_request.",
      },
      files: { ...map(TEXT), description: "Texts by the names of files." },
    }),
  },
  "POST /config/validate": {
    about: "Check texts, and say what they would change",
    body: object(
      {},
      {
        files: orNull(CANDIDATE),
        replay: orNull({ ...FLAG, description: "Judge the newest requests again." }),
      },
    ),
    answer: object(
      {
        outcome: words("refused", "unchanged", "applicable"),
        digest: TEXT_OR_NULL,
        findings: list(FINDING),
      },
      { ...IMPACT, replay: REPLAY },
    ),
  },
  "POST /config/complete": {
    about: "Complete a place of a file, and say what a word there means",
    body: object(
      { path: { ...TEXT, description: "The name of a file of GET /config/files." } },
      {
        files: orNull(CANDIDATE),
        offset: orNull({ ...COUNT, description: "In UTF-16 code units; or line and column." }),
        line: orNull({ ...COUNT, description: "From 1." }),
        column: orNull(COUNT),
      },
    ),
    answer: object({
      from: { ...COUNT, description: "Where the word begins that a completion replaces." },
      to: COUNT,
      completions: list(
        object({
          label: TEXT,
          insert: TEXT,
          kind: words("key", "value", "name", "reference"),
          detail: TEXT_OR_NULL,
          about: TEXT_OR_NULL,
        }),
      ),
      help: orNull(
        object({ title: TEXT, about: TEXT_OR_NULL, type: TEXT_OR_NULL, preset: TEXT_OR_NULL }),
      ),
    }),
  },
  "POST /config/diff": {
    about: "Compare two configurations by their effects",
    body: object({}, { from: SIDE, to: SIDE, replay: orNull(FLAG) }),
    answer: object(
      {
        from: { anyOf: [words("running", "files"), { type: "integer", minimum: 1 }] },
        to: { anyOf: [words("running", "files"), { type: "integer", minimum: 1 }] },
        ...IMPACT,
      },
      { replay: REPLAY },
    ),
  },
  "PUT /config/files": {
    about: "Write files of the configuration, and apply them; in the store at every instance",
    body: object(
      {
        files: {
          ...map(TEXT_OR_NULL),
          description: "Texts by the names of GET /config/files; null removes a file.",
        },
        base: {
          ...TEXT,
          description:
            "The digest of the files that the edit was made from: 409 where they differ.",
        },
      },
      {
        force: orNull({ ...TEXT, description: "A digest that the shrink guard refused." }),
        canary: orNull(CANARY_PLAN),
        author: AUTHOR_NAME,
      },
    ),
    answer: object(
      {
        ...ATTEMPT.properties,
        files: {
          ...words("written", "unchanged", "put_back", "left"),
          description:
            "put_back: the edit was refused, and the files are as before. left: they could not be put back, or are in the store and were refused by this instance alone.",
        },
        files_digest: { ...TEXT, description: "Of the files as they are now." },
      },
      { workers: EDIT_RESULT.properties.workers },
    ),
  },
  "POST /config/test": {
    about: "Run the tests of texts, without applying them",
    body: object(
      {},
      {
        files: orNull(CANDIDATE),
      },
    ),
    answer: object({
      outcome: {
        ...words("passed", "failed", "refused"),
        description: "refused: the texts have findings, and no test has run.",
      },
      findings: list(FINDING),
      tests: list(
        object({
          pipeline: TEXT,
          file: TEXT,
          name: TEXT,
          outcome: words("passed", "failed"),
          ms: COUNT,
          findings: list(FINDING),
        }),
      ),
    }),
  },
  "POST /restart": {
    about: "Replace the workers one after the other",
    body: object({}),
    answer: object(
      {
        outcome: {
          ...words("restarted", "refused", "allowed"),
          description: "allowed: a worker lets the supervisor restart.",
        },
      },
      { replaced: COUNT, workers: COUNT, reasons: TEXTS },
    ),
  },
} as const;
