/** Routes of keys. */

import { COUNT, FLAG, list, object, TEXT, TEXT_OR_NULL, TEXTS, words } from "../schema.ts";
import { KEY, KEY_FIELDS, KEY_VIEW, LISTED_KEY } from "../shapes/key.ts";
import { NAMES, NOTES, SPENT_VIEW, USED_VIEW, WARNINGS } from "../shapes/limits.ts";

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
    answer: object({ key: TEXT, info: object({ ...KEY_VIEW, ...SPENT_VIEW, ...USED_VIEW }) }),
  },
  "POST /key/bulk": {
    about: "Change up to 100 keys in one way",
    body: object(
      {
        keys: { type: "array", maxItems: 100, description: "Ids of keys." },
        action: words("block", "unblock", "delete", "update"),
      },
      {
        fields: { ...NOTES, description: "Of the action update: the fields of POST /key/update." },
      },
    ),
    answer: object({
      results: list(
        object({
          key: TEXT_OR_NULL,
          outcome: words("done", "missing", "refused"),
          reason: TEXT_OR_NULL,
        }),
      ),
    }),
  },
  "GET /key/list": {
    about: "List keys: by limit and cursor, or by page and size",
    query: object(
      {},
      {
        limit: {
          type: "integer",
          minimum: 1,
          maximum: 100,
          "x-words": "a whole number from 1 to 100",
        },
        cursor: { ...TEXT, description: "next_cursor of the page before." },
        search: { ...TEXT, description: "The begin of an alias, an id or a user's id." },
        status: words("active", "blocked", "expired"),
        sort: words("newest", "oldest", "alias", "expires"),
        organization_id: TEXT,
        user_id: TEXT,
        team_id: TEXT,
        page: { type: "integer", minimum: 1, "x-words": "a whole number from 1" },
        size: {
          type: "integer",
          minimum: 1,
          maximum: 100,
          "x-words": "a whole number from 1 to 100",
        },
        key_alias: TEXT,
        return_full_object: { ...FLAG, "x-words": "true or false" },
      },
    ),
    answer: {
      anyOf: [
        object({ keys: list(LISTED_KEY), next_cursor: TEXT_OR_NULL }),
        object({
          keys: list({ anyOf: [KEY, TEXT] }),
          total_count: COUNT,
          current_page: COUNT,
          total_pages: COUNT,
        }),
      ],
    },
  },
} as const;
