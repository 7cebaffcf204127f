/** The vault of one exchange: what was masked on the way in, put back on the way out. It dies with the exchange. */

import type { EditSpan, GuardrailInstance, TextContext } from "@sluice/spec";
import { insideJson } from "./escapes.ts";

/** A kind as it may stand in a placeholder. */
const KIND = /^[A-Z][A-Z0-9_]{0,31}$/;
/** Secrets that one exchange may have; more of them are masked and not put back. */
const MAX_ENTRIES = 10_000;

/** What looks like a placeholder. */
const LIKE = /\[[A-Z][A-Z0-9_]{0,31}_[0-9]{1,9}\]/g;

/** Placeholders and what they stand for. The same original has the same placeholder throughout. */
export class Vault {
  readonly #originals = new Map<string, string>();
  readonly #placeholders = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  #longest = 0;
  /** Texts of the request: a placeholder that stands in one already is not used. */
  #texts: readonly string[] = [];
  /** What looks like one in them. Read once, with the first secret: a request may be large, and its secrets many. */
  #taken: ReadonlySet<string> | undefined;
  #pattern: RegExp | undefined;

  get isEmpty(): boolean {
    return this.#originals.size === 0;
  }

  /** Tells which texts there are before anything is masked. */
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

  /** The spans that put the originals back. `isJson`: the text is JSON, and an original stands inside a string of it. */
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

  /** The one that puts back, in the form of a guardrail, so that streams treat it as one. It has no name and is not reported. */
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
      settings: { defaultOn: false, mode: "enforce", onError: "fail", budgetMs: 10_000, isolation: "inline" },
    };
  }

  /** Forgets everything. */
  clear(): void {
    this.#originals.clear();
    this.#placeholders.clear();
    this.#texts = [];
    this.#taken = undefined;
    this.#pattern = undefined;
  }
}

/** The name of the one who puts back: none that a configuration can say. */
export const RESTORER = "";
