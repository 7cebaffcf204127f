/** Routes of the fleet: the gateways that share the store. */

import {
  COUNT,
  FLAG,
  list,
  object,
  orNull,
  TEXT,
  TEXT_OR_NULL,
  TEXTS,
  TIME,
  words,
} from "../schema.ts";

/** An instance of the fleet: a gateway with all its workers. */
export const INSTANCE = object({
  id: { ...TEXT, description: "Of the data folder on this machine." },
  name: { ...TEXT, description: "The name of the machine or the pod." },
  is_self: { ...FLAG, description: "Whether it is the one that answers." },
  version: TEXT,
  admin_url: { ...TEXT_OR_NULL, description: "The admin listener, for operators." },
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
      instances: list(INSTANCE),
    }),
  },
} as const;
