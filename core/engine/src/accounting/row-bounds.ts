/** Bounds of a spend row: what a client may have written into the ledger with one request. */

/** Characters of a row's tags and metadata together, as JSON. Notes beyond it are left out. */
const MAX_ROW_CHARACTERS = 16_384;
/**
 * Characters of the tags of a request that was refused: such requests cost nothing, and there may
 * be many.
 */
const MAX_REFUSED_CHARACTERS = 1_024;
/** Maximum length of a model's name: a client chooses it. */
const MAX_MODEL_CHARACTERS = 256;

type Notes = Readonly<Record<string, unknown>>;

/**
 * The notes that fit beside the tags, in their order. `truncated: true` marks a row without some of
 * them.
 */
export function boundedNotes(notes: Notes, tags: readonly string[]): Notes {
  const names = Object.keys(notes);
  if (names.length === 0) return notes;
  let left = MAX_ROW_CHARACTERS - charactersOf(tags);
  const kept: Record<string, unknown> = {};
  let isWhole = true;
  for (const name of names) {
    const characters = name.length + (JSON.stringify(notes[name])?.length ?? 0);
    if (characters > left) isWhole = false;
    else {
      left -= characters;
      kept[name] = notes[name];
    }
  }
  return isWhole ? notes : { ...kept, truncated: true };
}

/** The tags of a refused request that fit, in their order. */
export function boundedTags(tags: readonly string[]): readonly string[] {
  let left = MAX_REFUSED_CHARACTERS;
  return tags.filter((tag) => (left -= tag.length) >= 0);
}

/** The beginning of a model's name. */
export function boundedModel(model: string): string {
  return model.slice(0, MAX_MODEL_CHARACTERS);
}

function charactersOf(texts: readonly string[]): number {
  let sum = 0;
  for (const text of texts) sum += text.length;
  return sum;
}
