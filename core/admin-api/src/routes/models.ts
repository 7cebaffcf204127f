/** Routes of models: what clients may name, and what stands behind each name. */

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
  TIME_OR_NULL,
  words,
} from "../schema.ts";

const PRICE = object({
  free: FLAG,
  input: { ...NUMBER_OR_NULL, description: "US dollars for a million tokens, as all but request." },
  output: NUMBER_OR_NULL,
  cache_read: NUMBER_OR_NULL,
  cache_write: NUMBER_OR_NULL,
  request: { ...NUMBER_OR_NULL, description: "US dollars for a call." },
  more: {
    ...TEXTS,
    description: "Further kinds that have a price: tiers, service_tiers, images, tools, reasoning.",
  },
  source: { ...TEXT, description: "A file, or the package of the built-in table." },
});

const TARGET = object({
  deployment: TEXT,
  provider: TEXT,
  model: TEXT,
  weight: COUNT,
  priority: { type: "integer" } as const,
  max_parallel: COUNT_OR_NULL,
  rpm: COUNT_OR_NULL,
  tpm: COUNT_OR_NULL,
  tags: TEXTS,
  missing: {
    ...TEXTS,
    description: "References of the provider without a value. Not empty: it is not called.",
  },
  price: { ...orNull(PRICE), description: "null: its cost is unknown." },
  declared_in: TEXT,
  health: {
    ...orNull(
      object({
        health: words("healthy", "ejected", "recovering"),
        held_until: TIME_OR_NULL,
        credential_refused: FLAG,
      }),
    ),
    description: "null: no step balance uses it. Of several deployments it is the worst.",
  },
});

/** The routes. */
export const MODEL_ROUTES = {
  "GET /models": {
    about: "List the models with their targets, prices and fallbacks",
    query: object(
      {},
      {
        search: {
          ...TEXT,
          maxLength: 200,
          description: "A part of the id of a model, or of a deployment of it.",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: 100,
          description: "50 unless given.",
        },
        cursor: { ...TEXT, description: "next_cursor of the page before." },
      },
    ),
    answer: object({
      generation: COUNT_OR_NULL,
      models: {
        ...list(
          object({
            model: { ...TEXT, description: "As written: a * at its end is a wildcard." },
            mode: words("chat", "embeddings", "images"),
            balance: { ...TEXT_OR_NULL, description: "null: as the step balance says." },
            access_groups: TEXTS,
            only_named: FLAG,
            fallbacks: { ...map(TEXTS), description: "Models in order, by class of the failure." },
            targets: list(TARGET),
            targets_total: { ...COUNT, description: "The first 20 targets are shown." },
            declared_in: { ...TEXT, description: "The file and line." },
          }),
        ),
        description: "In the order of the file.",
      },
      next_cursor: TEXT_OR_NULL,
    }),
  },
} as const;
