/**
 * Factors of model families: how many tokens a family bills for one that we count. Our counter
 * speaks OpenAI's encoding; other makers split texts otherwise, and only their own reports tell how
 * much.
 */

/** Families kept. Beyond, the one that was heard of least recently goes. */
const MAX_FAMILIES = 256;
/** Keys of a family with an average. Beyond, the one that was heard of least recently goes. */
const MAX_KEYS = 32;
/** Share of a new report in the average of its key. */
const WEIGHT = 0.2;
const MIN_FACTOR = 0.5;
const MAX_FACTOR = 3;
/** Prompts of fewer tokens say little: framing outweighs the text. */
const MIN_TOKENS = 32;

/** The tokens of one prompt: as the provider reported them, and as the gateway counted them. */
export interface PromptReport {
  readonly reported: number;
  readonly counted: number;
}

/** What is known of one family. */
interface Family {
  /** An average of each key, the one that was heard of least recently first. */
  readonly averages: Map<string, number>;
  /** The lower median of the averages. */
  readonly factor: number;
}

/** What is known of the families. */
export interface FamilyFactors {
  /** Takes a report about the prompt of a key. */
  observe(model: string, keyId: string, report: PromptReport): void;
  /** The factor for a count: 1 for OpenAI's own models and for families without reports. */
  of(model: string): number;
  /** Whether reports about the model are of use. */
  isLearnt(model: string): boolean;
}

/**
 * Families of the process, empty at first: an exponential moving average of each key, within 0.5
 * and 3. The factor is the lower median over the keys: prompts of one key alone, however many, move
 * no factor that others have made.
 */
export function createFamilyFactors(): FamilyFactors {
  const families = new Map<string, Family>();
  /** Every chat request asks, and to read a name costs more than the rest of the question. */
  const learnt = new Map<string, boolean>();
  return {
    observe(model, keyId, { reported, counted }) {
      const family = familyOf(model);
      if (isOpenAi(family) || counted < MIN_TOKENS || reported <= 0) return;
      const ratio = clamp(reported / counted);
      const averages = families.get(family)?.averages ?? new Map<string, number>();
      const known = averages.get(keyId) ?? ratio;
      setNewest(averages, keyId, known + (ratio - known) * WEIGHT, MAX_KEYS);
      const factor = lowerMedian([...averages.values()]);
      setNewest(families, family, { averages, factor }, MAX_FAMILIES);
    },
    of: (model) => families.get(familyOf(model))?.factor ?? 1,
    isLearnt(model) {
      let known = learnt.get(model);
      if (known === undefined) {
        known = !isOpenAi(familyOf(model));
        if (learnt.size >= MAX_FAMILIES) learnt.clear();
        learnt.set(model, known);
      }
      return known;
    },
  };
}

/**
 * The family of a model: its name without the maker's path, up to and with the first part that
 * holds a digit: `anthropic/claude-3-5-sonnet` is `claude-3`, `meta-llama/Llama-3.1-8B` is
 * `llama-3`, `deepseek-chat` itself; a fine-tuned model (`ft:gpt-4o:…`) belongs to the family of
 * its base.
 */
export function familyOf(model: string): string {
  const tuned = /(?:^|\/)ft:([^:]+)/.exec(model)?.[1];
  const parts = (tuned ?? model.slice(model.lastIndexOf("/") + 1)).toLowerCase().split(/[-_.:@]/);
  const numbered = parts.findIndex((part) => /\d/.test(part));
  return parts.slice(0, numbered < 0 ? 3 : Math.min(numbered + 1, 3)).join("-");
}

function isOpenAi(family: string): boolean {
  return /^(?:gpt|chatgpt|o[1-9]|text-embedding|codex|davinci)/.test(family);
}

/** Sets an entry as the newest one. Beyond the bound the oldest goes. */
function setNewest<Value>(
  entries: Map<string, Value>,
  name: string,
  value: Value,
  maxEntries: number,
): void {
  entries.delete(name);
  entries.set(name, value);
  const [oldest] = entries.keys();
  if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
}

function lowerMedian(values: readonly number[]): number {
  const ascending = values.toSorted((left, right) => left - right);
  return ascending[(ascending.length - 1) >> 1] ?? 1;
}

function clamp(ratio: number): number {
  return Math.min(MAX_FACTOR, Math.max(MIN_FACTOR, ratio));
}
