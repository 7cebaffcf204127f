/** Routes of the fleet: the gateways that share the store. */

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
import { CANARY_PLAN, FINDING, IMPACT } from "../shapes/config.ts";

const OUTCOME = words("applied", "canary", "returned", "refused", "waiting", "none");

/** An instance of the fleet: a gateway with all its workers. */
export const INSTANCE = object({
  id: { ...TEXT, description: "Of the data folder on this machine." },
  name: { ...TEXT, description: "The name of the machine or the pod." },
  is_self: { ...FLAG, description: "Whether it is the one that answers." },
  version: TEXT,
  admin_url: { ...TEXT_OR_NULL, description: "The admin listener, for operators." },
  data_directory: { ...TEXT_OR_NULL, description: "The path of its data folder there." },
  state: {
    ...words("serving", "draining", "gone"),
    description: "gone: it has not reported for some time.",
  },
  generation: COUNT,
  digest: { ...TEXT, description: "Of file contents and the values of references." },
  contents: { ...TEXT, description: "Of file contents alone." },
  canary: { ...TEXT_OR_NULL, description: "`contents` of a canary." },
  since: { ...TIME, description: "Since when the generation serves." },
  started_at: TIME,
  seen_at: { ...TIME, description: "The last report, by the clock of the store." },
  workers: object({
    expected: COUNT,
    serving: COUNT,
    agree: { ...FLAG, description: "Whether they run the same file contents." },
  }),
  refused: {
    ...orNull(object({ contents: TEXT_OR_NULL, reasons: TEXTS })),
    description: "What it refused last and does not run.",
  },
  rollout: {
    ...orNull(
      object({
        outcome: OUTCOME,
        reasons: TEXTS,
      }),
    ),
    description:
      "What became of the newest rollout there. waiting: it has other files; none: it has not reported.",
  },
});

/** Contents that all instances are to run. */
export const ROLLOUT = object({
  id: COUNT,
  source: words("files", "store"),
  kind: words("reload", "push", "rollback"),
  contents: TEXT,
  contents_of: COUNT_OR_NULL,
  stage: {
    ...words("all", "canary", "promoted", "returned"),
    description: "all: it began with all keys.",
  },
  reason: { ...TEXT_OR_NULL, description: "Why a canary ended." },
  author: TEXT_OR_NULL,
  asked_at: { ...TEXT, description: "The id of the instance that was asked." },
  forced: FLAG,
  at: TIME,
  ends_at: {
    ...TIME,
    description: "The end of the canary; without one, how long instances look for the contents.",
  },
  effects: TEXTS,
  canary: orNull(
    object({
      share: TEXT,
      abort_if: object({ error_rate: TEXT_OR_NULL, p99_ms: NUMBER_OR_NULL }),
      min_requests: COUNT,
      requests: { ...COUNT, description: "Of all instances." },
      errors: COUNT,
    }),
  ),
});

/** An attempt at the instance that was asked, and the rollout that the others follow. */
const ATTEMPT = object({
  outcome: TEXT,
  at: TIME,
  digest: TEXT_OR_NULL,
  contents: TEXT_OR_NULL,
  generation: COUNT_OR_NULL,
  reason: TEXT_OR_NULL,
  author: TEXT_OR_NULL,
  findings: list(FINDING),
  rollout: { ...COUNT_OR_NULL, description: "null: nothing has begun." },
});

/** The routes by `METHOD /path`. */
export const FLEET_ROUTES = {
  "GET /fleet": {
    about: "List the gateways that share the store, and what each of them runs",
    answer: object({
      as_of: { ...TIME, description: "By the clock of the store." },
      store_answers: {
        ...FLAG,
        description: "false: the other instances are as of an earlier time.",
      },
      agree: { ...FLAG, description: "Whether all instances run the same file contents." },
      rollout: orNull(ROLLOUT),
      instances: list(INSTANCE),
    }),
  },
  "POST /fleet/reload": {
    about: "Apply the files of this gateway, and the same files at every other one",
    body: object(
      {},
      {
        force: orNull(TEXT),
        author: orNull(TEXT),
        canary: orNull(CANARY_PLAN),
        wait: { ...orNull(TEXT), description: "How long instances look for the files; 2m." },
      },
    ),
    answer: ATTEMPT,
  },
  "GET /fleet/history": {
    about: "List the newest rollouts, and what became of each at every instance",
    query: object({}, { limit: { type: "integer", minimum: 1, maximum: 100 } }),
    answer: object({
      rollouts: list(
        object({
          ...ROLLOUT.properties,
          instances: list(
            object({ id: TEXT, name: TEXT_OR_NULL, outcome: OUTCOME, reasons: TEXTS }),
          ),
        }),
      ),
    }),
  },
  "GET /fleet/files": {
    about: "Read the files of a configuration in the store",
    query: object({}, { of: { ...COUNT, description: "A generation; the one that serves." } }),
    answer: object({
      generation: COUNT,
      contents: { ...TEXT_OR_NULL, description: "null: nothing was pushed yet." },
      files: map(TEXT),
    }),
  },
  "POST /fleet/push": {
    about: "Put a configuration into the store, and roll it out to every instance",
    body: object(
      { files: { ...map(TEXT), description: "Contents by name; gateway.yaml is one of them." } },
      {
        base: {
          ...orNull(COUNT),
          description: "The generation that the files were made from: 409 where another serves.",
        },
        force: orNull(TEXT),
        author: orNull(TEXT),
        canary: orNull(CANARY_PLAN),
        dry_run: { ...FLAG, description: "Check and test, and begin nothing." },
        wait: orNull(TEXT),
      },
    ),
    answer: object({
      ...ATTEMPT.properties,
      ...IMPACT,
    }),
  },
  "POST /fleet/forget": {
    about: "Delete the report of an instance that is gone",
    body: object({ instance: { ...TEXT, description: "Its id." } }),
    answer: object({ forgotten: TEXT }),
  },
} as const;
