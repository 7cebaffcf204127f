/** Routes of keys. */

import { COUNT, FLAG, list, object, TEXT, TEXTS } from "../schema.ts";
import { KEY, KEY_FIELDS, KEY_VIEW } from "../shapes/key.ts";
import { NAMES, SPENT_VIEW, WARNINGS } from "../shapes/limits.ts";

const WHICH = { type: "string", description: "A key, or its id (token_id)." } as const;
/** The field that names the key that a request is about. */
const KEY_ALONE = object({ key: WHICH });
/** A secret is shown in the answer that makes it, and never again. */
const NEW_KEY = { key: { ...TEXT, description: "The key, shown this once." } } as const;
const CHANGED = object({ key: TEXT, ...KEY_VIEW });

/** The routes. */
export const KEY_ROUTES = {
  "POST /key/generate": {
    about: "Make a key",
    body: object({}, { key: { type: ["string", "null"] }, ...KEY_FIELDS }),
    answer: object({ ...NEW_KEY, ...KEY_VIEW }, WARNINGS),
  },
  "POST /key/regenerate": {
    about: "Give a key a new secret",
    body: object(
      { key: WHICH },
      {
        grace_period: {
          type: ["string", "null"],
          description: "How long the old secret still works: 10m. 0s unless given.",
        },
      },
    ),
    answer: object({ ...NEW_KEY, ...KEY_VIEW }),
  },
  "POST /key/update": {
    about: "Change fields of a key",
    body: object({ key: WHICH }, KEY_FIELDS),
    answer: CHANGED,
  },
  "POST /key/block": { about: "Refuse a key's requests", body: KEY_ALONE, answer: CHANGED },
  "POST /key/unblock": { about: "Admit a key's requests again", body: KEY_ALONE, answer: CHANGED },
  "POST /key/delete": {
    about: "Delete keys",
    body: object({}, { keys: NAMES, key_aliases: NAMES }),
    answer: object({ deleted_keys: TEXTS }),
  },
  "GET /key/info": {
    about: "Read a key",
    query: object({}, { key: WHICH, key_alias: TEXT }),
    answer: object({ key: TEXT, info: object({ ...KEY_VIEW, ...SPENT_VIEW }) }),
  },
  "GET /key/list": {
    about: "List keys",
    query: object(
      {},
      {
        page: { type: "integer", minimum: 1 },
        size: { type: "integer", minimum: 1, maximum: 100 },
        user_id: TEXT,
        team_id: TEXT,
        key_alias: TEXT,
        return_full_object: FLAG,
      },
    ),
    answer: object({
      keys: list({ anyOf: [KEY, TEXT] }),
      total_count: COUNT,
      current_page: COUNT,
      total_pages: COUNT,
    }),
  },
} as const;
