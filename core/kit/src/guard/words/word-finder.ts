/**
 * Finds all words of a list in one pass over a text, for lists of any length (Aho and Corasick,
 * 1975).
 */

/** A list of words, compiled for searches. */
export class WordFinder {
  readonly #words: readonly string[];
  /**
   * The transitions: a node's number times 65,536 plus the character's code gives the next node.
   */
  readonly #next = new Map<number, number>();
  /** The node of the longest suffix that is also a prefix of a word. */
  readonly #fallback: number[] = [0];
  /** The word that ends in a node, or -1. */
  readonly #word: number[] = [-1];
  /** The nearest node on the fallback chain in which a word ends, or 0. */
  readonly #shorter: number[] = [0];
  /**
   * First characters of words, and first pairs by a hash that other pairs may share. Most of a text
   * matches neither.
   */
  readonly #begins = new Uint8Array(65_536);
  readonly #pairs = new Uint8Array(65_536);
  /** The length of the longest word. */
  readonly maxLength: number;

  /** The words in the texts' form; empty words are skipped. */
  constructor(words: readonly string[]) {
    this.#words = words;
    this.maxLength = Math.max(0, ...words.map(({ length }) => length));
    for (const [index, word] of words.entries()) this.#add(word, index);
    this.#link();
  }

  /** Reports every word in the text, also those inside other words. */
  find(text: string, found: (start: number, end: number) => void): void {
    let node = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (
        node === 0 &&
        (this.#begins[code] === 0 || this.#pairs[pairOf(code, text.charCodeAt(at + 1))] === 0)
      )
        continue;
      node = this.#step(node, code);
      const ending = this.#word[node] === -1 ? this.#shorter[node]! : node;
      for (let end = ending; end !== 0; end = this.#shorter[end]!) {
        found(at + 1 - this.#words[this.#word[end]!]!.length, at + 1);
      }
    }
  }

  #add(word: string, index: number): void {
    let node = 0;
    if (word !== "") {
      this.#begins[word.charCodeAt(0)] = 1;
      if (word.length > 1) this.#pairs[pairOf(word.charCodeAt(0), word.charCodeAt(1))] = 1;
      // A word of one character matches before any character.
      else
        for (let next = 0; next < 65_536; next++) this.#pairs[pairOf(word.charCodeAt(0), next)] = 1;
    }
    for (let at = 0; at < word.length; at++) {
      const key = node * 65_536 + word.charCodeAt(at);
      let next = this.#next.get(key);
      if (next === undefined) {
        next = this.#word.push(-1) - 1;
        this.#fallback.push(0);
        this.#shorter.push(0);
        this.#next.set(key, next);
      }
      node = next;
    }
    if (node !== 0) this.#word[node] = index;
  }

  #link(): void {
    // Level by level: a node's number is greater than its parent's, but not than the numbers of all
    // shallower nodes.
    const children = new Map<number, [code: number, child: number][]>();
    for (const [key, child] of this.#next) {
      const parent = Math.floor(key / 65_536);
      const siblings = children.get(parent);
      if (siblings === undefined) children.set(parent, [[key % 65_536, child]]);
      else siblings.push([key % 65_536, child]);
    }
    let level = (children.get(0) ?? []).map(([, child]) => child);
    while (level.length > 0) {
      const deeper: number[] = [];
      for (const node of level) {
        for (const [code, child] of children.get(node) ?? []) {
          const fallback = this.#step(this.#fallback[node]!, code);
          this.#fallback[child] = fallback;
          this.#shorter[child] = this.#word[fallback] === -1 ? this.#shorter[fallback]! : fallback;
          deeper.push(child);
        }
      }
      level = deeper;
    }
  }

  #step(from: number, code: number): number {
    for (let node = from; ; node = this.#fallback[node]!) {
      const next = this.#next.get(node * 65_536 + code);
      if (next !== undefined) return next;
      if (node === 0) return 0;
    }
  }
}

/** A hash of a pair of characters; the end of a text counts as the character 0. */
function pairOf(code: number, next: number): number {
  return ((code * 31) ^ (next * 257)) & 0xffff;
}
