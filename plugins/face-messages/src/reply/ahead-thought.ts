/**
 * What a signed thought has said before its pieces: a guardrail holds back pieces of a thought, and
 * the signed block with the whole of it may come first.
 */
export class AheadThought {
  #text = "";

  said(text: string): void {
    this.#text = text;
  }

  /** The part of a piece that the signed block has not said. */
  unsaid(piece: string): string {
    const text = this.#text;
    if (text === "") return piece;
    const isSaid = text.startsWith(piece) || piece.startsWith(text);
    this.#text = isSaid ? text.slice(piece.length) : "";
    return isSaid ? piece.slice(text.length) : piece;
  }
}
