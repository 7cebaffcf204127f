/** How many characters a reply may have. */

import { GatewayError } from "@sluice/contract";

/** The maximum characters of the texts of a stream: all of them stand in its last event. */
const MAX_CHARACTERS = 2 * 1024 * 1024;
/** The same of its images, which have no escapes, and of a whole reply. */
const MAX_LARGE_CHARACTERS = 64 * 1024 * 1024;

/** Counts the characters of one reply. */
export class Characters {
  readonly #maxCharacters: number;
  #characters = 0;
  #imageCharacters = 0;

  constructor(isWhole: boolean) {
    this.#maxCharacters = isWhole ? MAX_LARGE_CHARACTERS : MAX_CHARACTERS;
  }

  /** Counts a text. Throws `upstream_invalid_response` beyond the bound. */
  count(text: string): void {
    this.#characters += text.length;
    if (this.#characters > this.#maxCharacters) throw tooLarge(this.#maxCharacters);
  }

  /** Counts an image. Throws `upstream_invalid_response` beyond the bound. */
  countImage(image: string): void {
    this.#imageCharacters += image.length;
    if (this.#imageCharacters > MAX_LARGE_CHARACTERS) throw tooLarge(MAX_LARGE_CHARACTERS);
  }
}

function tooLarge(most: number): GatewayError {
  const message = `The upstream's reply has more than ${most} characters.`;
  return new GatewayError("upstream_invalid_response", message);
}
