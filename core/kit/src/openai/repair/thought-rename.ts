/**
 * Renames the thoughts of a stream in the text of their chunks: `"reasoning":` becomes
 * `"reasoning_content":` and every other character stays. Thoughts are long, and a parsed and
 * rewritten chunk costs four times as much.
 */

const NAME_CHARACTERS = '"reasoning"'.length;
const KEY = '"reasoning":"';
/**
 * Matches from the start of a chunk to the thought of its first choice. No bracket opens before
 * `choices`, so `choices` is a member of the chunk itself. A quote after a comma or brace is
 * outside a string, where it would have a backslash.
 */
const PLACE =
  /^\{(?:[^{[]*,)?\s*"choices":\s*\[\s*\{\s*(?:"index":\s*\d+,\s*)?"delta":\s*\{\s*(?:"(?:role|content)":\s*(?:"(?:assistant)?"|null),\s*)*(?="reasoning":\s*")/;
/** Members before the choices that require parsing. */
const ODD_BEFORE = /"(?:usage|x_groq|error)":\s*"/;
/**
 * Members after the thought that require parsing; also a second thought, delta or list of choices.
 */
const ODD_BEHIND =
  /"(?:tool_calls|usage|x_groq|error)":\s*["[{]|"finish_reason":\s*"|"(?:reasoning|reasoning_content|delta|choices)"\s*:/;

/** Renames the thoughts of one stream. */
export class ThoughtRename {
  /**
   * The text before the last thought: chunks of one stream begin alike, and one comparison is
   * faster than a search.
   */
  #before: string | undefined;
  #named = "";

  /** The chunk's renamed text; `undefined` when it has no thought, or needs another repair. */
  renamed(text: string): string | undefined {
    const before = this.#beforeOf(text);
    if (before === undefined) return undefined;
    const behind = text.slice(before.length + NAME_CHARACTERS);
    return ODD_BEHIND.test(behind) ? undefined : this.#named + behind;
  }

  #beforeOf(text: string): string | undefined {
    const known = this.#before;
    if (known !== undefined && text.startsWith(KEY, known.length) && text.startsWith(known))
      return known;
    if (!text.includes('reasoning":')) return undefined;
    const found = PLACE.exec(text)?.[0];
    if (found === undefined || ODD_BEFORE.test(found)) return undefined;
    this.#named = `${found}"reasoning_content"`;
    return (this.#before = found);
  }
}
