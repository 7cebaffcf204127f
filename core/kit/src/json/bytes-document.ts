/** A JSON document that holds bytes: they are decoded and parsed on first use. */

import type { JsonDocument, JsonObject } from "@sluice/contract";
import { asBuffer } from "./as-buffer.ts";
import { documentOf, parsedDocument } from "./document.ts";

/**
 * The document of bytes that hold a JSON object in UTF-8. They are decoded and parsed on first use
 * of `value` or `with`.
 */
export function bytesDocument(bytes: Uint8Array): JsonDocument {
  return new BytesDocument([bytes]);
}

/**
 * The same for bytes in pieces. They are joined on the first use of `bytes`, and not when they are
 * only written. `value`: what they hold, where it is known.
 */
export function piecesDocument(pieces: readonly Uint8Array[], value?: JsonObject): JsonDocument {
  return new BytesDocument(pieces, value);
}

class BytesDocument implements JsonDocument {
  readonly pieces: readonly Uint8Array[];
  #bytes: Uint8Array | undefined;
  #parsed: JsonDocument | undefined;
  readonly #value: JsonObject | undefined;

  constructor(pieces: readonly Uint8Array[], value?: JsonObject) {
    this.pieces = pieces;
    this.#value = value;
  }

  get bytes(): Uint8Array {
    const [first] = this.pieces;
    this.#bytes ??=
      this.pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.pieces);
    return this.#bytes;
  }

  get value(): JsonObject {
    return this.#value ?? this.#document.value;
  }

  with(changes: JsonObject): JsonDocument {
    const changed = this.#document.with(changes);
    return changed === this.#parsed ? this : changed;
  }

  get #document(): JsonDocument {
    if (this.#parsed !== undefined) return this.#parsed;
    const { bytes } = this;
    const text = asBuffer(bytes).toString("utf8");
    this.#parsed =
      this.#value === undefined
        ? documentOf(text, bytes)
        : parsedDocument(text, this.#value, bytes);
    return this.#parsed;
  }
}
