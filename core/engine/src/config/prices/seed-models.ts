/**
 * The models that the table of @pydantic/genai-prices knows: names, what they do, context windows.
 */

import type { KnownModel, ModelDirectory, ModelMode } from "@sluice/contract";

import { BoundedMap } from "../bounded-map.ts";
import { OWN_PRICES } from "./seed-own.ts";
import { matchSeed } from "./seed-match.ts";
import { type SeedModel, seedTable, type SeedTable, tableName } from "./seed-table.ts";

/**
 * The table has no modes: names tell. What the gateway has no operation for, and what has been
 * switched off, is none.
 */
const NO_MODE =
  /realtime|transcribe|whisper|tts|voice|live|moderation|ocr|rerank|instruct$|computer-use|^(?:ada|babbage|curie|davinci)$|^text-davinci|video|omni|veo|audio-preview$/;
const EMBEDDING = /embed/;
const IMAGE = /(?:^|-)image(?:-|$)|^dall-e|^imagen/;

/** A name that stands for many (a fine-tune, a variant), or only begins one. */
const NO_NAME = /^ft:|[:*]|[-._/]$/;

/** More than the table has models. */
const MAX_KEPT = 4_000;

const lists = new Map<string, readonly KnownModel[]>();
/** Answers, also that a name is unknown. */
const answers = new BoundedMap<{ readonly known: KnownModel | undefined }>(MAX_KEPT);

/** The directory. The table is loaded at the first question. */
export const seedDirectory: ModelDirectory = Object.freeze({
  list(provider: string) {
    const id = tableName(provider);
    const known = lists.get(id) ?? namesOf(id);
    lists.set(id, known);
    return known;
  },
  find(provider: string, model: string) {
    const id = tableName(provider);
    const name = `${id}/${model}`;
    const answer = answers.get(name) ?? { known: lookUp(id, model) };
    answers.set(name, answer);
    return answer.known;
  },
});

function lookUp(id: string, model: string): KnownModel | undefined {
  const own = ownModels(id).find(({ name }) => name === model);
  if (own !== undefined) return own;
  const table = seedTable(id);
  const found = table === undefined ? undefined : matchSeed(table, model);
  return found === undefined ? undefined : knownModel(model, found);
}

/** Names that requests may use, sorted. A name that its own clause does not accept is a label. */
function namesOf(id: string): readonly KnownModel[] {
  const table = seedTable(id);
  const models = table === undefined ? [] : table.models.filter((model) => isName(table, model));
  const all = [...models.map((model) => knownModel(model.id, model)), ...ownModels(id)];
  return Object.freeze(all.sort((left, right) => (left.name < right.name ? -1 : 1)));
}

function isName(table: SeedTable, model: SeedModel): boolean {
  return (
    model.deprecated !== true &&
    !NO_NAME.test(model.id) &&
    matchSeed(table, model.id)?.id === model.id
  );
}

function ownModels(id: string): readonly KnownModel[] {
  return Object.keys(OWN_PRICES)
    .filter((name) => name.startsWith(`${id}/`))
    .map((name) => ({ name: name.slice(id.length + 1), mode: "image", contextWindow: undefined }));
}

function knownModel(name: string, model: SeedModel): KnownModel {
  return Object.freeze({ name, mode: modeOf(name), contextWindow: model.context_window });
}

function modeOf(name: string): ModelMode | undefined {
  if (EMBEDDING.test(name)) return "embedding";
  if (NO_MODE.test(name)) return undefined;
  return IMAGE.test(name) ? "image" : "chat";
}
