/**
 * The vault of one exchange: texts that are masked in the request and restored in the reply. It
 * ends with the exchange.
 */

import type { EditSpan, GuardrailInstance, TextContext } from "@sluice/contract";
import { insideJson } from "@sluice/kit/internals";

/** The form of a kind in a placeholder. */
const KIND = /^[A-Z][A-Z0-9_]{0,31}$/;
/** Maximum secrets of one exchange; further ones are masked and not restored. */
const MAX_ENTRIES = 10_000;

/** The form of a placeholder. */
const LIKE = /\[[A-Z][A-Z0-9_]{0,31}_[0-9]{1,9}\]/g;

/** Placeholders and their originals. The same original always has the same placeholder. */
export class Vault {
  readonly #originals = new Map<string, string>();
  readonly #placeholders = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  #longest = 0;
  /** Texts of the request: a placeholder that occurs in one is not used. */
  #texts: readonly string[] = [];
  /**
   * Texts in placeholder form that occur in them. Searched once, with the first secret: a request
   * may be large and have many secrets.
   */
  #taken: ReadonlySet<string> | undefined;
  #pattern: RegExp | undefined;

  get isEmpty(): boolean {
    return this.#originals.size === 0;
  }

  /** Sets the texts of the request before any of them is masked. */
  avoid(texts: readonly string[]): void {
    this.#texts = texts;
    this.#taken = undefined;
  }

  /** The placeholder of an original: `[EMAIL_1]`. */
  placeholder(kind: string, original: string): string {
    const word = KIND.test(kind) ? kind : "MASKED";
    const key = `${word} ${original}`;
    const known = this.#placeholders.get(key);
    if (known !== undefined) return known;
    if (this.#placeholders.size >= MAX_ENTRIES) return `[${word}]`;
    this.#taken ??= new Set(this.#texts.flatMap((text) => text.match(LIKE) ?? []));
    let made: string;
    do {
      const count = (this.#counts.get(word) ?? 0) + 1;
      this.#counts.set(word, count);
      made = `[${word}_${count}]`;
    } while (this.#taken.has(made));
    this.#placeholders.set(key, made);
    this.#originals.set(made, original);
    this.#longest = Math.max(this.#longest, made.length);
    this.#pattern = undefined;
    return made;
  }

  /**
   * The spans that restore the originals. `isJson`: the text is JSON, and an original stands inside
   * a string of it.
   */
  restore(text: string, isJson: boolean): EditSpan[] {
    if (this.isEmpty || !text.includes("[")) return [];
    this.#pattern ??= new RegExp(`\\[(?:${[...this.#counts.keys()].join("|")})_[0-9]+\\]`, "g");
    const spans: EditSpan[] = [];
    for (const match of text.matchAll(this.#pattern)) {
      const original = this.#originals.get(match[0]);
      if (original === undefined) continue;
      const replacement = isJson ? insideJson(original) : original;
      spans.push({ start: match.index, end: match.index + match[0].length, replacement });
    }
    return spans;
  }

  /**
   * The restoring step in the form of a guardrail, so that streams can run it as one. It has no
   * name and is not reported.
   */
  restorer(): GuardrailInstance {
    return {
      name: RESTORER,
      use: RESTORER,
      guardrail: {
        reach: this.#longest,
        check: (text: string, _signal: AbortSignal, { part }: TextContext) => {
          const spans = this.restore(text, part === "arguments");
          return spans.length === 0 ? { kind: "allow" } : { kind: "edit", spans };
        },
      },
      settings: {
        defaultOn: false,
        mode: "enforce",
        onError: "fail",
        budgetMs: 10_000,
        isolation: "inline",
      },
    };
  }

  /** Drops all entries. */
  clear(): void {
    this.#originals.clear();
    this.#placeholders.clear();
    this.#texts = [];
    this.#taken = undefined;
    this.#pattern = undefined;
  }
}

/** The name of the restoring guardrail: one that a configuration cannot contain. */
export const RESTORER = "";
