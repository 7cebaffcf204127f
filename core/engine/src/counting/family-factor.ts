/**
 * Factors of model families: how many tokens a family bills for one that we count. Our counter
 * speaks OpenAI's encoding; other makers split texts otherwise, and only their own reports tell how
 * much.
 */

/** Families kept. Beyond, the one that was heard of least recently goes. */
const MAX_FAMILIES = 256;
/** Share of a new report in the average. */
const WEIGHT = 0.2;
const MIN_FACTOR = 0.5;
const MAX_FACTOR = 3;
/** Prompts of fewer tokens say little: framing outweighs the text. */
const MIN_TOKENS = 32;

/** What is known of the families. */
export interface FamilyFactors {
  /**
   * Takes a report: the prompt tokens that the provider reported, and those that the gateway
   * counted.
   */
  observe(model: string, reported: number, counted: number): void;
  /** The factor for a count: 1 for OpenAI's own models and for families without reports. */
  of(model: string): number;
  /** Whether reports about the model are of use. */
  isLearnt(model: string): boolean;
}

/**
 * Families of the process, empty at first: an exponential moving average each, within 0.5 and 3.
 */
export function createFamilyFactors(): FamilyFactors {
  const factors = new Map<string, number>();
  /** Every chat request asks, and to read a name costs more than the rest of the question. */
  const learnt = new Map<string, boolean>();
  return {
    observe(model, reported, counted) {
      const family = familyOf(model);
      if (isOpenAi(family) || counted < MIN_TOKENS || reported <= 0) return;
      const ratio = clamp(reported / counted);
      const known = factors.get(family);
      factors.delete(family);
      factors.set(family, known === undefined ? ratio : known + (ratio - known) * WEIGHT);
      const [oldest] = factors.keys();
      if (factors.size > MAX_FAMILIES && oldest !== undefined) factors.delete(oldest);
    },
    of: (model) => factors.get(familyOf(model)) ?? 1,
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

function clamp(ratio: number): number {
  return Math.min(MAX_FACTOR, Math.max(MIN_FACTOR, ratio));
}
