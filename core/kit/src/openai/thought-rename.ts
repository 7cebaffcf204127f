/**
 * Gives the thoughts of a stream the gateway's name in the text of their chunks: `"reasoning":` becomes `"reasoning_content":`
 * and every other character stays. Models think at length, and to parse and write each chunk costs four times as much.
 */

const NAME_CHARACTERS = '"reasoning"'.length;
const KEY = '"reasoning":"';
/**
 * From the start of a chunk to the thought of its first choice. Up to `choices` no bracket opens, so that `choices` is a member of
 * the chunk itself; a quote behind a comma or brace is no part of a string, where it would carry a backslash.
 */
const PLACE =
  /^\{(?:[^{[]*,)?\s*"choices":\s*\[\s*\{\s*(?:"index":\s*\d+,\s*)?"delta":\s*\{\s*(?:"(?:role|content)":\s*(?:"(?:assistant)?"|null),\s*)*(?="reasoning":\s*")/;
/** Before the choices nothing may be that a chunk is looked into for. */
const ODD_BEFORE = /"(?:usage|x_groq|error)":\s*"/;
/** Nor behind the thought; and no second thought, delta or list of choices. */
const ODD_BEHIND =
  /"(?:tool_calls|usage|x_groq|error)":\s*["[{]|"finish_reason":\s*"|"(?:reasoning|reasoning_content|delta|choices)"\s*:/;

/** Renames the thoughts of one stream. */
export class ThoughtRename {
  /** What stood before the last thought: the chunks of one stream begin alike, and one comparison is faster than a search. */
  #before: string | undefined;
  #named = "";

  /** The chunk's text with the other name; `undefined` when it holds no thought, or something else that is to be mended. */
  renamed(text: string): string | undefined {
    const before = this.#beforeOf(text);
    if (before === undefined) return undefined;
    const behind = text.slice(before.length + NAME_CHARACTERS);
    return ODD_BEHIND.test(behind) ? undefined : this.#named + behind;
  }

  #beforeOf(text: string): string | undefined {
    const known = this.#before;
    if (known !== undefined && text.startsWith(KEY, known.length) && text.startsWith(known)) return known;
    if (!text.includes('reasoning":')) return undefined;
    const found = PLACE.exec(text)?.[0];
    if (found === undefined || ODD_BEFORE.test(found)) return undefined;
    this.#named = `${found}"reasoning_content"`;
    return (this.#before = found);
  }
}
